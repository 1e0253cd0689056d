"""Wordy phrases in their short form."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.transform import like, transform

SHORT: dict[str, str] = {
    "in order to": "to",
    "so as to": "to",
    "due to the fact that": "because",
    "owing to the fact that": "because",
    "despite the fact that": "although",
    "in spite of the fact that": "although",
    "for the purpose of": "for",
    "in the event that": "if",
    "at this point in time": "now",
    "at the present time": "now",
    "has the ability to": "can",
    "have the ability to": "can",
    "is able to": "can",
    "are able to": "can",
    "a large number of": "many",
    "a wide variety of": "many",
    "a wide range of": "many",
    "the vast majority of": "most",
    "in close proximity to": "near",
    "with regard to": "about",
    "with respect to": "about",
    "each and every": "every",
    "first and foremost": "first",
    "as well as": "and",
    "prior to": "before",
    "subsequent to": "after",
    "on a regular basis": "regularly",
    "on a daily basis": "daily",
    "make use of": "use",
    "makes use of": "uses",
    "take into consideration": "consider",
    "take into account": "consider",
    "come to the conclusion": "conclude",
}
_WORDY = re.compile(
    r"\b(?:" + "|".join(sorted(SHORT, key=len, reverse=True)) + r")\b(?! (?:possible|not)\b)",
    re.IGNORECASE,
)


@transform("concise")
def concise(text: str, draws: Draws) -> str:
    """Wordy phrases shortened."""

    def short(match: re.Match[str]) -> str:
        found = SHORT[match.group().lower()]
        return like(match.group(), found) if found and draws.chance(0.85) else match.group()

    return _WORDY.sub(short, text)
