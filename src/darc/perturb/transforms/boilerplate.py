"""Courtesies, hedges, wordy phrases and turns of speech, changed or taken away."""

import re

from darc.language.phrases import patterns, read_rows
from darc.language.senses import WORDINGS
from darc.perturb.transforms.transform import (
    Draws,
    Found,
    Substitution,
    Transform,
    capital,
    like,
    occurring,
    replacing,
)

PATTERNS = patterns("transforms.toml", "boilerplate")


def _without(
    name: str, pattern: re.Pattern[str], again: bool = False, opening: bool = True
) -> Transform:
    """A transform that takes out what a pattern finds, `again` until there is no more of it.

    Where it may be `opening` the text, what is left begins with a capital.
    """
    occurs = occurring(pattern)

    def change(text: str, draws: Draws) -> str:
        kept = pattern.sub("", text) if occurs(text) else text
        while again and (less := pattern.sub("", kept)) != kept:
            kept = less
        if not kept.strip():
            return text
        return capital(kept) if opening else kept

    return Transform(name, change)


flattery = _without("flattery", PATTERNS["flattery"])
openers = _without("openers", PATTERNS["opener"], again=True)
apologies = _without("apologies", PATTERNS["apology"])
closers = _without("closers", PATTERNS["closer"], again=True, opening=False)


def _next(match: Found, draws: Draws) -> str:
    return match["next"].upper()


hedges = replacing("hedges", Substitution(PATTERNS["hedge"], _next))
without_markers = replacing("no markers", Substitution(PATTERNS["adding"], _next, 0.7))


def _dropped(match: Found, draws: Draws) -> str | None:
    before = match.string[max(0, match.start() - 6) : match.start()]
    # "very" carries an article's sound, and "a very old" would become "a old".
    kept = PATTERNS["no_filler_after"].search(before) or re.search(r"\ban? \Z", before[-4:], re.I)
    return None if kept else ""


fillers = replacing("fillers", Substitution(PATTERNS["filler"], _dropped, 0.7))

_SHORT = dict(WORDINGS["short"])
WORDY = re.compile(
    r"\b(?:" + "|".join(sorted(_SHORT, key=len, reverse=True)) + r")\b(?! (?:possible|not)\b)",
    re.IGNORECASE,
)


def _short(match: Found, draws: Draws) -> str:
    return like(match.group(), _SHORT[match.group().lower()])


concise = replacing("concise", Substitution(WORDY, _short, 0.7))

GROUPS = [tuple(group.split("; ")) for (group,) in read_rows("markers.tsv")]
_GROUP_OF = {marker: group for group in GROUPS for marker in group}
MARKER = re.compile(
    r"(?:(?<=^)|(?<=[.!?] )|(?<=\n))(?:"
    + "|".join(re.escape(m) for m in sorted(_GROUP_OF, key=len, reverse=True))
    + r")(?= )"
)


def _other(match: Found, draws: Draws) -> str | None:
    choices = [m for m in _GROUP_OF[match.group()] if m != match.group()]
    return draws.pick(choices) if draws.chance(0.8) else None


discourse_markers = replacing("discourse markers", Substitution(MARKER, _other))
