"""Courtesies and wordy phrases taken away, and small turns of phrase with the same meaning."""

import re
from collections.abc import Iterable

from darc.language.data_files import read_patterns, read_rows
from darc.language.synonyms import WORDINGS
from darc.parts.rewriters.transform import (
    Draws,
    Found,
    Put,
    Substitution,
    Transform,
    capital,
    occurring,
    rephrasing,
    replacing,
)

_SHORT = dict(WORDINGS["short"])
MARKERS = [tuple(group.split("; ")) for (group,) in read_rows("markers.tsv")]
_ABOUT = ("about", "around", "roughly", "approximately")
# What stands for a wording, or may be picked for it.
_ONE = {**_SHORT, **dict(WORDINGS["turn"])}
_SEVERAL = {
    wording.lower(): [other for other in group if other != wording]
    for group in (*MARKERS, _ABOUT)
    for wording in group
}


def _any(phrases: Iterable[str]) -> str:
    return f"(?P<turned>{'|'.join(map(re.escape, sorted(phrases, key=len, reverse=True)))})"


PATTERNS = {
    **read_patterns("transforms.toml", "phrasing"),
    "wordy": re.compile(rf"(?i)\b{_any(_SHORT)}\b(?! (?:possible|not)\b)"),
    "marker": re.compile(rf"(?:(?<=^)|(?<=[.!?] )|(?<=\n)){_any(sum(MARKERS, ()))}(?= )"),
}


def _without(name: str, again: bool = False, opening: bool = True) -> Transform:
    """A transform that takes out what a pattern finds, `again` until there is no more of it.

    Where it may be `opening` the text, what is left begins with a capital.
    """
    pattern = PATTERNS[name]
    occurs = occurring(pattern)

    def change(text: str, draws: Draws) -> str:
        kept = pattern.sub("", text) if occurs(text) else text
        while again and (less := pattern.sub("", kept)) != kept:
            kept = less
        if not kept.strip():
            return text
        return capital(kept) if opening else kept

    return change


def _put(name: str, put: str | Put, chance: float = 1.0, otherwise: bool = False) -> Substitution:
    return Substitution(PATTERNS[name], put, chance, otherwise)


def _turned(name: str, chance: float) -> Substitution:
    """With a probability, another wording for the group `turned` of a pattern."""

    def put(match: Found, draws: Draws) -> str | None:
        if not draws.chance(chance):
            return None
        old = match["turned"].lower()
        new = _ONE[old] if old in _ONE else draws.pick(_SEVERAL[old])
        text = match.string
        before, after = text[match.start() : match.start(1)], text[match.end(1) : match.end()]
        return before + new + after

    return _put(name, put)


def _with_that(match: Found, draws: Draws) -> str | None:
    before = match.string[max(0, match.start() - 60) : match.start()]
    return None if PATTERNS["question"].search(before) else f"{match['verb']} that "


def _then(match: Found, draws: Draws) -> str | None:
    clause = match.string[: match.start()].rsplit(".", 1)[-1].lower()
    if re.search(r"\b(?:if|when|once|and)\b", clause):
        return None
    return ", then " if match["and"] else ", and then "


STRIPS: tuple[Transform, ...] = (
    flattery := _without("flattery"),
    openers := _without("opener", again=True),
    apologies := _without("apology"),
    closers := _without("closer", again=True, opening=False),
    hedges := replacing(_put("hedge", r"\g<next>")),
)
without_markers = replacing(_put("adding", r"\g<next>", 0.7))
fillers = replacing(_put("filler", "", 0.7))
concise = replacing(_turned("wordy", 0.7))
discourse_markers = replacing(_turned("marker", 0.8))
that = replacing(_put("that", r"\g<verb> ", 0.7), _put("no_that", _with_that, 0.7, otherwise=True))
# "a drug that is used" as "a drug used", ", which is a" as ", a"
relatives = replacing(_put("relative", r"\g<noun> ", 0.7), _put("apposition", r", \g<rest>", 0.7))
# "There are many things that help" as "Many things help"
there = replacing(
    _put("there", r"\g<number> \g<noun> ", 0.7), _put("exist", r"\g<number> \g<noun> exist", 0.5)
)
turns = replacing(
    _put("you_can", "it is possible to ", 0.4),
    _put("possible", "you can ", 0.4),
    _put("should", "it is best to ", 0.4),
    _put("purpose", "in order to ", 0.5),
    _put("lets", r"let\g<s> \g<who> ", 0.6),
    _put("allows", r"allows \g<who> to ", 0.6, otherwise=True),
    _turned("number", 0.7),
)
# "a battery that lasts" as "a battery which lasts", and back; never of people
which = replacing(_turned("which", 0.5))
small_turns = replacing(
    _put("then", _then, 0.6), _turned("keep", 0.6), _turned("little", 0.6), _turned("must", 0.6)
)


@rephrasing(PATTERNS["twice"])
def one_subject(match: Found, draws: Draws) -> str | None:
    """A repeated subject said once: "You open it and read it"."""
    return f"{match['who']} {match['first']} and {match['second']}."
