"""Sentences joined, split, reordered inside or linked another way."""

import re

from darc.language.data_files import read_patterns
from darc.language.word_lists import LIGHT_WORDS, WORD_LISTS
from darc.parts.rewriters.transform import (
    Draws,
    Found,
    Substitution,
    capital,
    putting,
    rephrasing,
    replacing,
    small,
)

PATTERNS = read_patterns("transforms.toml", "sentences")
CLAUSES = read_patterns("transforms.toml", "clauses")
_MOST_JOINED = 16
_MOST_WORDS = 22
_BOTH_SHORT = 15
_CONCESSIVE = ("Although", "Though", "Even though")
_TEMPORAL = ("before", "after", "while", "until")


def _before(match: Found) -> str:
    """What stands before a match in its sentence."""
    text, end = match.string, match.start()
    return text[max(text.rfind(mark, 0, end) for mark in (". ", "! ", "? ", "\n")) + 1 : end]


def _after(match: Found) -> str:
    """What stands after a match in its sentence."""
    return re.split(r"[.!?\n]", match.string[match.end() :], maxsplit=1)[0]


@putting(PATTERNS["join"])
def join(match: Found, draws: Draws) -> str | None:
    """Joined with "and" or a semicolon, when the second opens on a pronoun."""
    before, after = _before(match), _after(match)
    longest = max(len(before.split()), len(after.split()))
    end = match.end() + len(after)
    asked = "?" in match.string[end : end + 1]
    bound = PATTERNS["bound"].match(before.lstrip()) or PATTERNS["linked"].search(before) or asked
    if bound or longest > _MOST_JOINED or not draws.chance(0.6):
        return None
    link = draws.pick((", and ", "; "))
    if PATTERNS["linked"].search(after):
        link = "; "
    return f"{link}{match['subject'].lower()} "


def _parted(match: Found, draws: Draws) -> str | None:
    if PATTERNS["bound"].search(_before(match)):
        return None
    contrast = match.re is PATTERNS["but"]
    return f". However, {match['subject']} " if contrast else f". {match['subject'].capitalize()} "


_PARTED = [replacing(Substitution(PATTERNS[name], _parted, 0.7)) for name in ("but", "part")]


def split(text: str, draws: Draws) -> str:
    """Parted before ", but it" or ", and it", when no subordinate clause binds it."""
    return draws.pick(_PARTED)(text, draws)


@putting(PATTERNS["join_plain"], 0.4)
def join_plain(match: Found, draws: Draws) -> str | None:
    """Two short plain statements as one, when the second opens on an article."""
    before, after = _before(match), _after(match)
    whole, sizes = f"{before} {after}", (len(before.split()), len(after.split()))
    bound = PATTERNS["linked"].search(whole) or PATTERNS["bound"].search(whole) or "," in whole
    if bound or max(sizes) > _MOST_JOINED or sizes[0] < 4:
        return None
    plain = PATTERNS["statement"].match(before.lstrip())
    return f", and {match['article'].lower()} " if plain else None


def _swapped(match: Found, draws: Draws) -> str | None:
    words = {match["first"], match["second"]}
    # No fixed couple, no function words, no actions.
    kept = words & WORD_LISTS["fixed couple"] or words & LIGHT_WORDS
    if kept or "respectively" in match.string or any(map(PATTERNS["unordered"].search, words)):
        return None
    return f"{match['lead']}{match['second']} {match['link']} {match['first']}"


def _turned(match: Found, draws: Draws) -> str | None:
    order = [match["first"], match["second"], match["third"]]
    light = not LIGHT_WORDS.isdisjoint(word for item in order for word in item.split())
    if light or "respectively" in match.string or not draws.chance(0.6):
        return None
    first, second, third = draws.shuffled(order)
    return f"{match['lead']}{first}, {second}{match['link']}{third}"


# Two or three plain items in another order where the order says nothing.
items = replacing(
    Substitution(PATTERNS["couple"], _swapped, 0.6), Substitution(PATTERNS["triple"], _turned)
)


@rephrasing(PATTERNS["inside"], PATTERNS["first"], PATTERNS["also"])
def adverbs(match: Found, draws: Draws) -> str | None:
    """Adverbs moved: "It is often late" as "Often, it is late", and back; "also" as "as well"."""
    inside, first, also = (
        PATTERNS[name].match(match.string) for name in ("inside", "first", "also")
    )
    if inside and not PATTERNS["no_subject"].search(inside["subject"].lower()):
        lowered = small(inside["subject"]) if draws.chance(0.6) else None
        if lowered is not None and not re.match(r"(?:not|used|enough)\b", inside["rest"]):
            return f"{inside['adverb']}, {lowered} {inside['rest']}."
    if first and draws.chance(0.6):
        verb = first["verb"] or ""
        return f"{first['subject']} {verb}{first['adverb'].lower()} {first['rest']}."
    if also and not PATTERNS["inner"].search(also["rest"]) and draws.chance(0.7):
        if draws.chance(0.5) and len(also["rest"].split()) <= 10:
            return f"{also['start']} {also['rest']} as well."
        lowered = small(also["start"])
        return None if lowered is None else f"In addition, {lowered} {also['rest']}."
    return None


# "the surface of the Earth" as "the Earth's surface", and back
owners = replacing(
    Substitution(PATTERNS["of"], r"\g<article> \g<owner>'s \g<thing>", 0.7),
    Substitution(
        PATTERNS["genitive"], r"\g<article> \g<thing> of the \g<owner>", 0.7, otherwise=True
    ),
)


def _has(name: str, *texts: str) -> bool:
    """Whether a pattern is in one of the texts."""
    return any(CLAUSES[name].search(text) for text in texts)


@rephrasing(CLAUSES["clause"])
def to_end(match: Found, draws: Draws) -> str | None:
    """Fronted clauses last: "When it rains, we read" as "We read when it rains"."""
    link, rest, main = match["link"], match["rest"], match["main"]
    # Nothing may be bound anew; "it is" and "there is" stand for nothing.
    expletive = CLAUSES["expletive"].match(main)
    bound = _has("persons", rest, main[expletive.end() :] if expletive else main)
    if bound or _has("binding", main) or len(main.split()) < 2:
        return None
    if len(rest.split()) + len(main.split()) > _MOST_WORDS + 4:
        return None
    if link in ("Because", "Since", "As") and _has("negation", main):
        return None
    if link == "Because" and draws.chance(0.4) and _has("finite", rest):
        return f"{rest}, so {main}."
    if not draws.chance(0.75):
        return None
    if link in _CONCESSIVE and draws.chance(0.5):
        return f"{rest}, but {main}."
    comma = "," if link in (*_CONCESSIVE, "While") else ""
    return f"{main}{comma} {link[0].lower()}{link[1:]} {rest}."


def _fronted(first: str, main: str, draws: Draws) -> str | None:
    lowered = small(main)
    if lowered is None or len(main.split()) < 3 or not draws.chance(0.75):
        return None
    return f"{first}, {lowered}."


@rephrasing(CLAUSES["tail"])
def to_front(match: Found, draws: Draws) -> str | None:
    """Last clauses fronted: "We read when it rains" as "When it rains, we read"."""
    main, link, rest = match["main"], match["link"], match["rest"]
    bound = _has("binding", main, rest) or _has("tail_bound", main) or _has("persons", rest)
    denied = link == "because" and _has("negation", main)
    if bound or denied or len(match.string.split()) > _MOST_WORDS:
        return None
    if not (CLAUSES["clausal_time"].match(rest) if link in _TEMPORAL else _has("finite", rest)):
        return None
    if re.match(r"[a-z]+ing\b", rest) and not re.match(r"(?:you|we|I)\b", main):
        return None
    return _fronted(f"{link} {rest}", main, draws)


@rephrasing(CLAUSES["phrase"])
def phrase_to_end(match: Found, draws: Draws) -> str | None:
    """Fronted phrases last: "In winter, lakes freeze" as "Lakes freeze in winter"."""
    phrase, main = match["phrase"], match["main"] or match["bare"]
    bound = _has("verbal", phrase) or _has("binding", main) or _has("negation", match.string)
    if bound or len(match.string.split()) > _MOST_WORDS - 4:
        return None
    words = main.split()
    if len(words) < 3 or re.search(r"\b(?:to|of|in|on|at)\b", words[-2]) or not draws.chance(0.75):
        return None
    return f"{main} {phrase[0].lower()}{phrase[1:]}."


@rephrasing(CLAUSES["time"])
def time_to_front(match: Found, draws: Draws) -> str | None:
    """Last phrases of time fronted: "Lakes freeze in winter" as "In winter, lakes freeze"."""
    main = match["main"]
    bound = _has("binding", main) or _has("negation", main) or _has("unfronted", main)
    if bound or len(match.string.split()) > _MOST_WORDS or not main[-1].isalpha():
        return None
    return _fronted(match["phrase"], main, draws)


@rephrasing(CLAUSES["so"], CLAUSES["why"], CLAUSES["result"])
def results(match: Found, draws: Draws) -> str | None:
    """The "so" between two clauses as "which is why" or "as a result", and back."""
    if match.re is CLAUSES["result"] or not draws.chance(0.75):
        return _parted_result(match.string, draws)
    first, second = match["first"], match["second"]
    if re.search(r"\b(?:so|even|just|not|and)\Z", first) or CLAUSES["possible"].match(second):
        return None
    if re.match(r"(?:that|many|much|few)\b", second) or not _has("link_finite", second):
        return None
    if ", which is why " in match.string:
        return f"{first}, so {second}."
    links = [f"{first}, and so {second}."] if "," not in first else []
    if not _has("bound", first):
        links += [f"{first}. As a result, {second}.", f"{first}. Therefore, {second}."]
        if "," not in first:
            links += [f"{first}, which is why {second}.", f"{first}; as a result, {second}."]
    return draws.pick(links) if links else None


def _parted_result(sentence: str, draws: Draws) -> str | None:
    match = CLAUSES["result"].match(sentence)
    if match is None or not draws.chance(0.6) or CLAUSES["bound"].match(match["first"]):
        return None
    first, verb, rest = match["first"], match["verb"], match["rest"]
    plain = rest.removeprefix("that ")
    if verb == "means" and CLAUSES["small_subject"].match(plain) and draws.chance(0.5):
        return f"{first}, so {plain}."
    return f"{first}. This {verb} {rest}."


@rephrasing(CLAUSES["although"], CLAUSES["yet"], CLAUSES["but"])
def contrasts(match: Found, draws: Draws) -> str | None:
    """The "but" between two clauses as "yet", "although" or "however", and back."""
    if match.re is not CLAUSES["but"] and draws.chance(0.6):
        return f"{match['first']}, but {match['second']}."
    but = CLAUSES["but"].match(match.string)
    if but is None or not draws.chance(0.8):
        return None
    first, second = but["first"], but["second"]
    if re.search(r"\b(?:not|n['\u2019]t) (?:only|just|merely)\b", first, re.I):
        return None
    if not _has("link_finite", second) or re.search(r"\bnothing\Z|\banything\Z", first):
        return None
    links = [f"{first}, yet {second}."]
    if not _has("bound", first):
        links += [f"{first}; however, {second}.", f"{first}. However, {second}."]
        lowered = small(first)
        # An imperative has no subject, and "although" needs one.
        if lowered and _has("link_finite", first) and CLAUSES["subject"].match(first):
            links += [f"Although {lowered}, {second}."] * 2
    return draws.pick(links)


@rephrasing(CLAUSES["semicolon"], CLAUSES["and"])
def semicolons(match: Found, draws: Draws) -> str | None:
    """A sentence parted at its semicolon or at ", and", or with a semicolon for the ", and"."""
    if match.re is CLAUSES["semicolon"] and draws.chance(0.7):
        return f"{match['first']}. {capital(match['second'])}."
    linked = CLAUSES["and"].match(match.string)
    if linked is None or _has("bound", linked["first"]) or not draws.chance(0.6):
        return None
    first, second = linked["first"], linked["second"]
    shortest = min(len(first.split()), len(second.split()))
    if shortest < 4 or not _has("link_finite", " ".join(second.split()[1:5])):
        return None
    if "between" in first or "both" in first.lower() or re.match(r"that\b", second):
        return None
    return f"{first}; {second}." if draws.chance(0.5) else f"{first}. {capital(second)}."


@rephrasing(CLAUSES["marker_first"])
def marker_last(match: Found, draws: Draws) -> str | None:
    """Opening markers last: "However, it is late" as "It is late, however"."""
    marker, rest = match["marker"], match["rest"]
    if len(match.string.split()) > _BOTH_SHORT or not draws.chance(0.5):
        return None
    comma = "" if marker == "Instead" else ","
    return f"{rest}{comma} {marker.lower()}."
