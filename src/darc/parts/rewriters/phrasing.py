"""Transforms that remove courtesies and wordy phrases, or exchange small turns of phrase."""

import re
from collections.abc import Iterable

from darc.language.data_files import read_patterns, read_rows
from darc.language.synonyms import WORDINGS
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.transform import (
    Match,
    Replace,
    Substitution,
    Transform,
    capitalise,
    occurrence_test,
    rephrasing,
    substituting,
)

#: Groups of discourse markers with the same meaning.
MARKERS = [tuple(group.split("; ")) for (group,) in read_rows("markers.tsv")]
_ABOUT = ("about", "around", "roughly", "approximately")
_SHORTER = dict(WORDINGS["short"])
# The only replacement of a wording.
_REPLACEMENT_OF = {**_SHORTER, **dict(WORDINGS["turn"])}
# The replacements of a wording that has several.
_REPLACEMENTS_OF = {
    wording.lower(): [other for other in group if other != wording]
    for group in (*MARKERS, _ABOUT)
    for wording in group
}


def _alternatives(phrases: Iterable[str]) -> str:
    """A pattern of any of the phrases, the longest first, as the group `turned`."""
    texts = [re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True)]
    return f"(?P<turned>{'|'.join(texts)})"


_ALL_MARKERS = [marker for group in MARKERS for marker in group]
PATTERNS = {
    **read_patterns("transforms.toml", "phrasing"),
    "wordy": re.compile(rf"(?i)\b{_alternatives(_SHORTER)}\b(?! (?:possible|not)\b)"),
    "marker": re.compile(rf"(?:(?<=^)|(?<=[.!?] )|(?<=\n)){_alternatives(_ALL_MARKERS)}(?= )"),
}


def _removing(name: str, *, repeatedly: bool = False, at_start: bool = True) -> Transform:
    """Make a transform that removes what a pattern finds, unless nothing would be left.

    With `repeatedly` it goes on until the pattern finds nothing. With `at_start` the pattern may
    open the text, and what is left gets a capital letter.
    """
    pattern = PATTERNS[name]
    occurs = occurrence_test(pattern)

    def transform(text: str, draws: Draws) -> str:
        remaining = text
        if occurs(text):
            remaining = pattern.sub("", text)
        if repeatedly:
            remaining = _remove_repeatedly(pattern, remaining)
        if not remaining.strip():
            return text
        if at_start:
            return capitalise(remaining)
        return remaining

    return transform


def _remove_repeatedly(pattern: re.Pattern[str], text: str) -> str:
    while True:
        shorter = pattern.sub("", text)
        if shorter == text:
            return text
        text = shorter


def _substitution(
    name: str,
    replacement: str | Replace,
    probability: float = 1.0,
    only_if_unchanged: bool = False,
) -> Substitution:
    return Substitution(PATTERNS[name], replacement, probability, only_if_unchanged)


def _exchange(name: str, probability: float) -> Substitution:
    """A substitution that puts another wording for the group `turned` of a pattern."""

    def replace(match: Match, draws: Draws) -> str | None:
        if not draws.chance(probability):
            return None
        wording = match["turned"].lower()
        if wording in _REPLACEMENT_OF:
            new = _REPLACEMENT_OF[wording]
        else:
            new = draws.pick(_REPLACEMENTS_OF[wording])
        text = match.string
        before = text[match.start() : match.start(1)]
        after = text[match.end(1) : match.end()]
        return before + new + after

    return _substitution(name, replace)


def _with_that(match: Match, draws: Draws) -> str | None:
    before = match.string[max(0, match.start() - 60) : match.start()]
    if PATTERNS["question"].search(before):
        return None
    return f"{match['verb']} that "


def _toggle_and_then(match: Match, draws: Draws) -> str | None:
    clause = match.string[: match.start()].rsplit(".", 1)[-1].lower()
    if re.search(r"\b(?:if|when|once|and)\b", clause):
        return None
    if match["and"]:
        return ", then "
    return ", and then "


remove_flattery = _removing("flattery")
remove_openers = _removing("opener", repeatedly=True)
remove_apologies = _removing("apology")
remove_closers = _removing("closer", repeatedly=True, at_start=False)
remove_hedges = substituting(_substitution("hedge", r"\g<next>"))
#: The transforms that remove courtesies.
COURTESIES: tuple[Transform, ...] = (
    remove_flattery,
    remove_openers,
    remove_apologies,
    remove_closers,
    remove_hedges,
)

remove_markers = substituting(_substitution("adding", r"\g<next>", 0.7))
remove_fillers = substituting(_substitution("filler", "", 0.7))
shorten_phrases = substituting(_exchange("wordy", 0.7))
exchange_markers = substituting(_exchange("marker", 0.8))
toggle_that = substituting(
    _substitution("that", r"\g<verb> ", 0.7),
    _substitution("no_that", _with_that, 0.7, only_if_unchanged=True),
)
#: Writes "a drug that is used" as "a drug used", and ", which is a" as ", a".
shorten_relatives = substituting(
    _substitution("relative", r"\g<noun> ", 0.7),
    _substitution("apposition", r", \g<rest>", 0.7),
)
#: Writes "There are many things that help" as "Many things help".
shorten_there_is = substituting(
    _substitution("there", r"\g<number> \g<noun> ", 0.7),
    _substitution("exist", r"\g<number> \g<noun> exist", 0.5),
)
exchange_turns = substituting(
    _substitution("you_can", "it is possible to ", 0.4),
    _substitution("possible", "you can ", 0.4),
    _substitution("should", "it is best to ", 0.4),
    _substitution("purpose", "in order to ", 0.5),
    _substitution("lets", r"let\g<s> \g<who> ", 0.6),
    _substitution("allows", r"allows \g<who> to ", 0.6, only_if_unchanged=True),
    _exchange("number", 0.7),
)
#: Writes "a battery that lasts" as "a battery which lasts", and back; never of people.
toggle_which = substituting(_exchange("which", 0.5))
exchange_small_turns = substituting(
    _substitution("then", _toggle_and_then, 0.6),
    _exchange("keep", 0.6),
    _exchange("little", 0.6),
    _exchange("must", 0.6),
)


@rephrasing(PATTERNS["twice"])
def drop_repeated_subject(match: Match, draws: Draws) -> str | None:
    """Write a repeated subject once: "You open it and read it"."""
    return f"{match['who']} {match['first']} and {match['second']}."
