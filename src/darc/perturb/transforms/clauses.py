"""Clauses and phrases moved within their sentence or linked another way."""

import re

from darc.language.phrases import patterns
from darc.perturb.transforms.transform import Draws, Found, capital, rephrasing, small

PATTERNS = patterns("transforms.toml", "clauses")
_MOST_WORDS = 22
_BOTH_SHORT = 15
_CONCESSIVE = ("Although", "Though", "Even though")
_TEMPORAL = ("before", "after", "while", "until")


def _has(name: str, *texts: str) -> bool:
    """Whether a pattern is in one of the texts."""
    return any(PATTERNS[name].search(text) for text in texts)


@rephrasing("clause to end", PATTERNS["clause"])
def to_end(match: Found, draws: Draws) -> str | None:
    """Fronted clauses last: "When it rains, we read" as "We read when it rains"."""
    link, rest, main = match["link"], match["rest"], match["main"]
    if not _movable(link, rest, main):
        return None
    if link == "Because" and draws.chance(0.4) and _has("finite", rest):
        return f"{capital(rest)}, so {main}."
    if not draws.chance(0.75):
        return None
    if link in _CONCESSIVE and draws.chance(0.5):
        return f"{capital(rest)}, but {main}."
    comma = "," if link in (*_CONCESSIVE, "While") else ""
    return f"{capital(main)}{comma} {link[0].lower()}{link[1:]} {rest}."


@rephrasing("clause to front", PATTERNS["tail"])
def to_front(match: Found, draws: Draws) -> str | None:
    """Last clauses fronted: "We read when it rains" as "When it rains, we read"."""
    main, link, rest = match["main"], match["link"], match["rest"]
    bound = _has("binding", main, rest) or _has("tail_bound", main) or _has("persons", rest)
    if bound or len(match.string.split()) > _MOST_WORDS:
        return None
    if link == "because" and _has("negation", main):
        return None
    if not (PATTERNS["clausal_time"].match(rest) if link in _TEMPORAL else _has("finite", rest)):
        return None
    if re.match(r"[a-z]+ing\b", rest) and not re.match(r"(?:you|we|I)\b", main):
        return None
    lowered = small(main)
    if lowered is None or len(main.split()) < 3 or not draws.chance(0.75):
        return None
    return f"{capital(link)} {rest}, {lowered}."


@rephrasing("phrase to end", PATTERNS["phrase"])
def phrase_to_end(match: Found, draws: Draws) -> str | None:
    """Fronted phrases last: "In winter, lakes freeze" as "Lakes freeze in winter"."""
    phrase, main = match["phrase"], match["main"] or match["bare"]
    if len(match.string.split()) > _MOST_WORDS - 4 or PATTERNS["discourse"].match(phrase):
        return None
    if _has("verbal", phrase) or _has("binding", main) or _has("negation", match.string):
        return None
    words = main.split()
    if len(words) < 3 or re.search(r"\b(?:to|of|in|on|at)\b", words[-2]):
        return None
    if not draws.chance(0.75):
        return None
    return f"{capital(main)} {phrase[0].lower()}{phrase[1:]}."


@rephrasing("time to front", PATTERNS["time"])
def time_to_front(match: Found, draws: Draws) -> str | None:
    """Last phrases of time fronted: "Lakes freeze in winter" as "In winter, lakes freeze"."""
    main = match["main"]
    bound = _has("binding", main) or _has("negation", main) or _has("unfronted", main)
    if bound or len(match.string.split()) > _MOST_WORDS or not main[-1].isalpha():
        return None
    lowered = small(main)
    if lowered is None or len(main.split()) < 3 or not draws.chance(0.75):
        return None
    return f"{capital(match['phrase'])}, {lowered}."


def _movable(link: str, rest: str, main: str) -> bool:
    """Whether a fronted clause can follow its main clause with nothing bound anew."""
    if _has("binding", main) or PATTERNS["no_clause"].match(rest) or len(main.split()) < 2:
        return False
    if len(rest.split()) + len(main.split()) > _MOST_WORDS + 4 or re.search(r"\bto\Z", main):
        return False
    if link in ("Because", "Since", "As") and _has("negation", main):
        return False
    if link in ("As", "Since") and not PATTERNS[link.lower()].match(rest):
        return False
    if link in ("To", "In order to", "By") and re.match(r"(?:it|there|this|that)\b", main):
        return False
    if _has("persons", rest):
        return False
    expletive = PATTERNS["expletive"].match(main)
    return not _has("persons", main[expletive.end() :] if expletive else main)


@rephrasing("links of result", PATTERNS["so"], PATTERNS["why"], PATTERNS["result"])
def results(match: Found, draws: Draws) -> str | None:
    """The "so" between two clauses as "which is why" or "as a result", and back."""
    if match.re is PATTERNS["result"] or not draws.chance(0.75):
        return _parted_result(match.string, draws)
    first, second = match["first"], match["second"]
    if re.search(r"\b(?:so|even|just|not|and)\Z", first) or PATTERNS["possible"].match(second):
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
    match = PATTERNS["result"].match(sentence)
    if match is None or not draws.chance(0.6) or PATTERNS["bound"].match(match["first"]):
        return None
    first, verb, rest = match["first"], match["verb"], match["rest"]
    plain = rest.removeprefix("that ")
    if verb == "means" and PATTERNS["small_subject"].match(plain) and draws.chance(0.5):
        return f"{first}, so {plain}."
    return f"{first}. This {verb} {rest}."


@rephrasing("links of contrast", PATTERNS["although"], PATTERNS["yet"], PATTERNS["but"])
def contrasts(match: Found, draws: Draws) -> str | None:
    """The "but" between two clauses as "yet", "although" or "however", and back."""
    if match.re is not PATTERNS["but"] and draws.chance(0.6):
        return f"{match['first']}, but {match['second']}."
    but = PATTERNS["but"].match(match.string)
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
        if lowered and _has("link_finite", first) and PATTERNS["subject"].match(first):
            links += [f"Although {lowered}, {second}."] * 2
    return draws.pick(links)


@rephrasing("semicolons", PATTERNS["semicolon"], PATTERNS["and"])
def semicolons(match: Found, draws: Draws) -> str | None:
    """A sentence parted at its semicolon or at ", and", or with a semicolon for the ", and"."""
    if match.re is PATTERNS["semicolon"] and draws.chance(0.7):
        return f"{match['first']}. {capital(match['second'])}."
    linked = PATTERNS["and"].match(match.string)
    if linked is None or _has("bound", linked["first"]) or not draws.chance(0.6):
        return None
    first, second = linked["first"], linked["second"]
    shortest = min(len(first.split()), len(second.split()))
    if shortest < 4 or not _has("link_finite", " ".join(second.split()[1:5])):
        return None
    if "between" in first or "both" in first.lower() or re.match(r"that\b", second):
        return None
    return f"{first}; {second}." if draws.chance(0.5) else f"{first}. {capital(second)}."


@rephrasing("place of markers", PATTERNS["marker_first"])
def marker_last(match: Found, draws: Draws) -> str | None:
    """Opening markers last: "However, it is late" as "It is late, however"."""
    marker, rest = match["marker"], match["rest"]
    if len(match.string.split()) > _BOTH_SHORT or _has("inner", rest):
        return None
    if marker == "Therefore" or not draws.chance(0.5):
        return None
    comma = "" if marker == "Instead" else ","
    return f"{capital(rest)}{comma} {marker.lower()}."
