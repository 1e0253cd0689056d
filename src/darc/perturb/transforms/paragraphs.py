"""Breaks between paragraphs and list items moved."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.transform import transform

_ITEM = r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S"
_TIGHT = re.compile(rf"(?m)^({_ITEM}[^\n]*)\n(?={_ITEM})")
_LOOSE = re.compile(rf"(?m)^({_ITEM}[^\n]*)\n\n(?={_ITEM})")
_PLAIN = re.compile(r"(?![ \t]*(?:[-*+•#>|]|\d{1,3}[.)][ \t]))[A-Z][^\n]*[a-z][.!]\Z")
_SENTENCE_END = re.compile(
    r"(?<=[a-z)][.!]) (?=[A-Z])(?<!e\.g\. )(?<!i\.e\. )(?<!etc\. )(?<!vs\. )"
)
_ABBREVIATION = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Fig|vs|etc|approx|Inc|Co|e\.g|i\.e)\.$"
)
_LONG = 45
_SHORT = 40


@transform("paragraph breaks")
def breaks(text: str, draws: Draws) -> str:
    """Long paragraphs split at a sentence, or two short neighbours joined."""
    paragraphs = text.split("\n\n")
    if draws.chance(0.5):
        return "\n\n".join(_joined(paragraphs, draws))
    return "\n\n".join(_parted(paragraph, draws) for paragraph in paragraphs)


@transform("item spacing")
def item_spacing(text: str, draws: Draws) -> str:
    """List items with blank lines between them, or without."""
    if "\n\n" in text and _LOOSE.search(text):
        return _LOOSE.sub(r"\1\n", text)
    return _TIGHT.sub(r"\1\n\n", text) if draws.chance(0.7) and "\n" in text else text


def _parted(paragraph: str, draws: Draws) -> str:
    if not _PLAIN.match(paragraph) or len(paragraph.split()) < _LONG:
        return paragraph
    places = [
        m.start()
        for m in _SENTENCE_END.finditer(paragraph)
        if not _ABBREVIATION.search(paragraph[: m.start()])
    ]
    if not places:
        return paragraph
    at = draws.pick(places)
    return paragraph[:at] + "\n\n" + paragraph[at + 1 :]


def _joined(paragraphs: list[str], draws: Draws) -> list[str]:
    kept: list[str] = []
    joined_last = False
    for paragraph in paragraphs:
        fits = (
            bool(kept)
            and not joined_last
            and _PLAIN.match(kept[-1])
            and _PLAIN.match(paragraph)
            and len(kept[-1].split()) + len(paragraph.split()) <= 2 * _SHORT
        )
        if fits and draws.chance(0.6):
            kept[-1] = f"{kept[-1]} {paragraph}"
            joined_last = True
        else:
            kept.append(paragraph)
            joined_last = False
    return kept
