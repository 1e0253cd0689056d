"""Courtesies and wordy phrases taken away, and small turns of phrase with the same meaning."""

import re
from collections.abc import Iterable

from darc.language.phrases import patterns, read_rows
from darc.language.words import WORD_LISTS, WORDINGS
from darc.perturb.transform import (
    Draws,
    Found,
    Substitution,
    Transform,
    capital,
    like,
    occurring,
    rephrasing,
    replacing,
)

_SHORT, _TURNED = dict(WORDINGS["short"]), dict(WORDINGS["turn"])
MARKERS = [tuple(group.split("; ")) for (group,) in read_rows("markers.tsv")]
_GROUP_OF = {marker: group for group in MARKERS for marker in group}
_KEEPS_THAT = ("so", "shows", "suggests", "find", "found", "mean")
_ABOUT = ("about", "around", "roughly", "approximately")


def _any(phrases: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(phrases, key=len, reverse=True)))})"


PATTERNS = {
    **patterns("transforms.toml", "phrasing"),
    "wordy": re.compile(rf"(?i)\b{_any(_SHORT)}\b(?! (?:possible|not)\b)"),
    "marker": re.compile(rf"(?:(?<=^)|(?<=[.!?] )|(?<=\n)){_any(_GROUP_OF)}(?= )"),
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


def _next(match: Found, draws: Draws) -> str:
    return match["next"].upper()


STRIPS: tuple[Transform, ...] = (
    flattery := _without("flattery"),
    openers := _without("opener", again=True),
    apologies := _without("apology"),
    closers := _without("closer", again=True, opening=False),
    hedges := replacing(Substitution(PATTERNS["hedge"], _next)),
)
without_markers = replacing(Substitution(PATTERNS["adding"], _next, 0.7))


def _dropped(match: Found, draws: Draws) -> str | None:
    before = match.string[max(0, match.start() - 6) : match.start()]
    # "very" carries an article's sound, and "a very old" would become "a old".
    kept = PATTERNS["no_filler_after"].search(before) or re.search(r"\ban? \Z", before[-4:], re.I)
    return None if kept else ""


def _short(match: Found, draws: Draws) -> str:
    return like(match.group(), _SHORT[match.group().lower()])


def _other(match: Found, draws: Draws) -> str | None:
    choices = [marker for marker in _GROUP_OF[match.group()] if marker != match.group()]
    return draws.pick(choices) if draws.chance(0.8) else None


fillers = replacing(Substitution(PATTERNS["filler"], _dropped, 0.7))
concise = replacing(Substitution(PATTERNS["wordy"], _short, 0.7))
discourse_markers = replacing(Substitution(PATTERNS["marker"], _other))


def _without_that(match: Found, draws: Draws) -> str | None:
    return None if match["verb"].lower() in _KEEPS_THAT else f"{match['verb']} "


def _with_that(match: Found, draws: Draws) -> str | None:
    before = match.string[max(0, match.start() - 60) : match.start()]
    return None if PATTERNS["question"].search(before) else f"{match['verb']} that "


that = replacing(
    Substitution(PATTERNS["that"], _without_that, 0.7),
    Substitution(PATTERNS["no_that"], _with_that, 0.7, otherwise=True),
)


def _reduced(match: Found, draws: Draws) -> str | None:
    return None if match["noun"] in WORD_LISTS["no noun"] else f"{match['noun']} "


# "a drug that is used" as "a drug used", ", which is a" as ", a"
relatives = replacing(
    Substitution(PATTERNS["relative"], _reduced, 0.7),
    Substitution(PATTERNS["apposition"], r", \g<rest>", 0.7),
)


def _subject(match: Found) -> str:
    return f"{capital(match['number'])} {match['noun']}"


# "There are many things that help" as "Many things help"
there = replacing(
    Substitution(PATTERNS["there"], lambda match, draws: f"{_subject(match)} ", 0.7),
    Substitution(PATTERNS["exist"], lambda match, draws: f"{_subject(match)} exist", 0.5),
)


def _about(match: Found, draws: Draws) -> str | None:
    choices = [word for word in _ABOUT if word != match["about"]]
    return f"{match['lead']} {draws.pick(choices)} " if draws.chance(0.7) else None


def _lets(match: Found, draws: Draws) -> str:
    return f"{'let' if match['verb'] == 'allow' else 'lets'} {match['who']} "


turns = replacing(
    Substitution(PATTERNS["you_can"], "It is possible to ", 0.4),
    Substitution(PATTERNS["possible"], lambda match, draws: like(match.group(), "you can "), 0.4),
    Substitution(PATTERNS["should"], "It is best to ", 0.4),
    Substitution(PATTERNS["purpose"], "In order to ", 0.5),
    Substitution(PATTERNS["lets"], _lets, 0.6),
    Substitution(PATTERNS["allows"], r"allows \g<who> to ", 0.6, otherwise=True),
    Substitution(PATTERNS["number"], _about),
)


def _which(match: Found, draws: Draws) -> str | None:
    if PATTERNS["people"].search(match["noun"]):
        return None
    return f"{match['lead']}{match['noun']} {_TURNED[match['link']]} "


def _then(match: Found, draws: Draws) -> str | None:
    clause = match.string[: match.start()].rsplit(".", 1)[-1].lower()
    if re.search(r"\b(?:if|when|once|and)\b", clause):
        return None
    return ", then " if match["and"] else ", and then "


def _turned(match: Found, draws: Draws) -> str:
    return f"{_TURNED[match['turned']]} "


# "a battery that lasts" as "a battery which lasts", and back; never of people
which = replacing(Substitution(PATTERNS["which"], _which, 0.5))
small_turns = replacing(
    Substitution(PATTERNS["then"], _then, 0.6),
    Substitution(PATTERNS["keep"], _turned, 0.6),
    Substitution(PATTERNS["little"], _turned, 0.6),
    Substitution(
        PATTERNS["must"], lambda match, draws: f"{match['lead']}{_turned(match, draws)}to ", 0.6
    ),
)


@rephrasing(PATTERNS["twice"])
def one_subject(match: Found, draws: Draws) -> str | None:
    """A repeated subject said once: "You open it and read it"."""
    if match["who"].lower() != match["again"].lower():
        return None
    return f"{match['who']} {match['first']} and {match['second']}."
