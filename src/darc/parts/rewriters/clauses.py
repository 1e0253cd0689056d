"""Transforms that move clauses and phrases inside a sentence, or link clauses another way."""

import re

from darc.language.data_files import read_patterns
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.transform import Match, capitalise, rephrasing, uncapitalise

PATTERNS = read_patterns("transforms.toml", "clauses")
# The largest numbers of words of a sentence in which something is moved.
_MAX_WORDS = 22
_MAX_WORDS_WITH_MARKER = 15
_MIN_CLAUSE_WORDS = 4
_CONCESSIVE = ("Although", "Though", "Even though")
_CAUSAL = ("Because", "Since", "As")
_TEMPORAL = ("before", "after", "while", "until")


def _has(name: str, *texts: str) -> bool:
    """Whether a pattern occurs in one of the texts."""
    return any(PATTERNS[name].search(text) for text in texts)


def _count_words(text: str) -> int:
    return len(text.split())


def _with_small_letter(words: str) -> str:
    return words[0].lower() + words[1:]


@rephrasing(PATTERNS["clause"])
def move_clause_to_end(match: Match, draws: Draws) -> str | None:
    """Move a fronted clause to the end: "When it rains, we read" as "We read when it rains"."""
    link = match["link"]
    clause = match["rest"]
    main = match["main"]
    if not _can_move_to_end(link, clause, main):
        return None
    if link == "Because" and draws.chance(0.4) and _has("finite", clause):
        return f"{clause}, so {main}."
    if not draws.chance(0.75):
        return None
    if link in _CONCESSIVE and draws.chance(0.5):
        return f"{clause}, but {main}."
    comma = ""
    if link in (*_CONCESSIVE, "While"):
        comma = ","
    return f"{main}{comma} {_with_small_letter(link)} {clause}."


def _can_move_to_end(link: str, clause: str, main: str) -> bool:
    """Whether a clause can follow its main clause without a change of meaning."""
    # A pronoun could refer to something else; "it is" and "there is" refer to nothing.
    expletive = PATTERNS["expletive"].match(main)
    main_after_expletive = main
    if expletive:
        main_after_expletive = main[expletive.end() :]
    if _has("persons", clause, main_after_expletive) or _has("binding", main):
        return False
    if _count_words(main) < 2 or _count_words(clause) + _count_words(main) > _MAX_WORDS + 4:
        return False
    return not (link in _CAUSAL and _has("negation", main))


@rephrasing(PATTERNS["tail"])
def move_clause_to_front(match: Match, draws: Draws) -> str | None:
    """Move a last clause to the front: "We read when it rains" as "When it rains, we read"."""
    main = match["main"]
    link = match["link"]
    clause = match["rest"]
    if _has("binding", main, clause) or _has("tail_bound", main) or _has("persons", clause):
        return None
    if link == "because" and _has("negation", main):
        return None
    if _count_words(match.string) > _MAX_WORDS:
        return None
    if link in _TEMPORAL:
        is_clause = PATTERNS["clausal_time"].match(clause) is not None
    else:
        is_clause = _has("finite", clause)
    if not is_clause:
        return None
    if re.match(r"[a-z]+ing\b", clause) and not re.match(r"(?:you|we|I)\b", main):
        return None
    return _put_first(f"{link} {clause}", main, draws)


def _put_first(words: str, main: str, draws: Draws) -> str | None:
    """A sentence that begins with some words, or None if the main clause cannot follow them."""
    lowered_main = uncapitalise(main)
    if lowered_main is None or _count_words(main) < 3 or not draws.chance(0.75):
        return None
    return f"{words}, {lowered_main}."


@rephrasing(PATTERNS["phrase"])
def move_phrase_to_end(match: Match, draws: Draws) -> str | None:
    """Move a fronted phrase to the end: "In winter, lakes freeze" as "Lakes freeze in winter"."""
    phrase = match["phrase"]
    main = match["main"] or match["bare"]
    if _has("verbal", phrase) or _has("binding", main) or _has("negation", match.string):
        return None
    if _count_words(match.string) > _MAX_WORDS - 4:
        return None
    words = main.split()
    if len(words) < 3 or re.search(r"\b(?:to|of|in|on|at)\b", words[-2]) or not draws.chance(0.75):
        return None
    return f"{main} {_with_small_letter(phrase)}."


@rephrasing(PATTERNS["time"])
def move_time_to_front(match: Match, draws: Draws) -> str | None:
    """Move a last phrase of time to the front: "Lakes freeze in winter" as "In winter, ..."."""
    main = match["main"]
    if _has("binding", main) or _has("negation", main) or _has("unfronted", main):
        return None
    if _count_words(match.string) > _MAX_WORDS or not main[-1].isalpha():
        return None
    return _put_first(match["phrase"], main, draws)


@rephrasing(PATTERNS["so"], PATTERNS["why"], PATTERNS["result"])
def relink_results(match: Match, draws: Draws) -> str | None:
    """Write the "so" between two clauses as "which is why" or "as a result", and back."""
    if match.re is PATTERNS["result"] or not draws.chance(0.75):
        return _split_result(match.string, draws)
    first = match["first"]
    second = match["second"]
    if re.search(r"\b(?:so|even|just|not|and)\Z", first) or PATTERNS["possible"].match(second):
        return None
    if re.match(r"(?:that|many|much|few)\b", second) or not _has("link_finite", second):
        return None
    if ", which is why " in match.string:
        return f"{first}, so {second}."
    sentences: list[str] = []
    has_comma = "," in first
    if not has_comma:
        sentences.append(f"{first}, and so {second}.")
    if not _has("bound", first):
        sentences.append(f"{first}. As a result, {second}.")
        sentences.append(f"{first}. Therefore, {second}.")
        if not has_comma:
            sentences.append(f"{first}, which is why {second}.")
            sentences.append(f"{first}; as a result, {second}.")
    if not sentences:
        return None
    return draws.pick(sentences)


def _split_result(sentence: str, draws: Draws) -> str | None:
    """Write ", which means that ..." as a sentence of its own, or with "so"."""
    match = PATTERNS["result"].match(sentence)
    if match is None or not draws.chance(0.6) or PATTERNS["bound"].match(match["first"]):
        return None
    first = match["first"]
    verb = match["verb"]
    rest = match["rest"]
    clause = rest.removeprefix("that ")
    if verb == "means" and PATTERNS["small_subject"].match(clause) and draws.chance(0.5):
        return f"{first}, so {clause}."
    return f"{first}. This {verb} {rest}."


@rephrasing(PATTERNS["although"], PATTERNS["yet"], PATTERNS["but"])
def relink_contrasts(match: Match, draws: Draws) -> str | None:
    """Write the "but" between two clauses as "yet", "although" or "however", and back."""
    if match.re is not PATTERNS["but"] and draws.chance(0.6):
        return f"{match['first']}, but {match['second']}."
    but = PATTERNS["but"].match(match.string)
    if but is None or not draws.chance(0.8):
        return None
    first = but["first"]
    second = but["second"]
    if re.search(r"\b(?:not|n['\u2019]t) (?:only|just|merely)\b", first, re.I):
        return None
    if not _has("link_finite", second) or re.search(r"\bnothing\Z|\banything\Z", first):
        return None
    sentences = [f"{first}, yet {second}."]
    if not _has("bound", first):
        sentences.append(f"{first}; however, {second}.")
        sentences.append(f"{first}. However, {second}.")
        lowered_first = uncapitalise(first)
        # An imperative has no subject, and "although" needs one.
        has_subject = _has("link_finite", first) and PATTERNS["subject"].match(first)
        if lowered_first and has_subject:
            sentences += [f"Although {lowered_first}, {second}."] * 2
    return draws.pick(sentences)


@rephrasing(PATTERNS["semicolon"], PATTERNS["and"])
def change_semicolons(match: Match, draws: Draws) -> str | None:
    """Split a sentence at its semicolon or ", and", or write a semicolon for the ", and"."""
    if match.re is PATTERNS["semicolon"] and draws.chance(0.7):
        return f"{match['first']}. {capitalise(match['second'])}."
    linked = PATTERNS["and"].match(match.string)
    if linked is None or _has("bound", linked["first"]) or not draws.chance(0.6):
        return None
    first = linked["first"]
    second = linked["second"]
    if min(_count_words(first), _count_words(second)) < _MIN_CLAUSE_WORDS:
        return None
    if not _has("link_finite", " ".join(second.split()[1:5])):
        return None
    if "between" in first or "both" in first.lower() or re.match(r"that\b", second):
        return None
    if draws.chance(0.5):
        return f"{first}; {second}."
    return f"{first}. {capitalise(second)}."


@rephrasing(PATTERNS["marker_first"])
def move_marker_to_end(match: Match, draws: Draws) -> str | None:
    """Move an opening marker to the end: "However, it is late" as "It is late, however"."""
    if _count_words(match.string) > _MAX_WORDS_WITH_MARKER or not draws.chance(0.5):
        return None
    marker = match["marker"]
    comma = ","
    if marker == "Instead":
        comma = ""
    return f"{match['rest']}{comma} {marker.lower()}."
