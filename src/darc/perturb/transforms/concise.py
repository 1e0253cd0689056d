"""Wordy phrases in their short form."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.lexicon.wordy import SHORT
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import like, transform

_WORDY = re.compile(
    r"\b(?:" + "|".join(sorted(SHORT, key=len, reverse=True)) + r")\b(?! (?:possible|not)\b)",
    re.IGNORECASE,
)
_wordy = occurring(_WORDY)


@transform("concise")
def concise(text: str, draws: Draws) -> str:
    """Wordy phrases shortened."""
    if not _wordy(text):
        return text

    def short(match: re.Match[str]) -> str:
        found = SHORT[match.group().lower()]
        return like(match.group(), found) if draws.chance(0.7) else match.group()

    return _WORDY.sub(short, text)
