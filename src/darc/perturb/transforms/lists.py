"""List markers exchanged, and short lists told as a sentence."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.transform import transform

_BULLET = re.compile(r"^([ \t]*)([-*+•])(?=[ \t]+\S)(?!(?:[ \t]*[-*_]){2,}[ \t]*$)", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*)(\d{1,3})([.)])(?=[ \t]+\S)", re.MULTILINE)
_ORDERED = re.compile(
    r"\b(?:steps?|first|second|then|next|finally|order|rank\w*|top|above|number|part|item)\b", re.I
)
_BLOCK = re.compile(
    r"(?m:^)(?P<intro>[^\n]*:)[ \t]*\n+"
    r"(?P<items>(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]+(?:\n+|\Z)){2,4})"
    r"(?![ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])(?P<rest>[ \t]*)",
)
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])[ \t]+([^\n]+)", re.MULTILINE)
_ITEMS = re.compile(r"(?:^(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]+(?:\n+|\Z)){2,}", re.MULTILINE)
_LABELLED = re.compile(r"\A\*\*([^*\n]+?):?\*\*:?[ \t]+")
_MOST_WORDS = 14


@transform("list markers")
def markers(text: str, draws: Draws) -> str:
    """Every bullet as another bullet, "1." as "1)", or numbers that carry no order as bullets."""
    style = draws.pick("-*•")
    text = _BULLET.sub(lambda match: match[1] + style, text)
    numbers = [int(match[2]) for match in _NUMBERED.finditer(text)]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        return text
    if draws.chance(0.5) and not _ORDERED.search(text):
        return _NUMBERED.sub(lambda match: match[1] + style, text)
    return _NUMBERED.sub(
        lambda match: match[1] + match[2] + (")" if match[3] == "." else "."), text
    )


@transform("lists to prose")
def to_prose(text: str, draws: Draws) -> str:
    """A list of two to four short items after a colon as one sentence."""

    def prose(match: re.Match[str]) -> str:
        items = [item.strip() for item in _ITEM.findall(match["items"])]
        if any(len(item.split()) > _MOST_WORDS or _inner_stop(item) for item in items):
            return match.group()
        if not draws.chance(0.85):
            return match.group()
        bare = [item.rstrip(".;,") for item in items]
        told = "; ".join(bare[:-1]) + "; and " + bare[-1] + "."
        at_end = match.end() == len(match.string)
        return f"{match['intro']} {told}" + ("" if at_end else "\n\n") + match["rest"]

    return _BLOCK.sub(prose, text)


@transform("running text")
def running(text: str, draws: Draws) -> str:
    """The items of a list, each a sentence, as one paragraph."""

    def told(match: re.Match[str]) -> str:
        items = [item.strip() for item in _ITEM.findall(match.group())]
        if any(not item.endswith((".", "!")) or len(item.split()) < 4 for item in items):
            return match.group()
        rest = "\n\n" if match.group().endswith("\n") else ""
        return " ".join(_LABELLED.sub(_label, item) for item in items) + rest

    return _ITEMS.sub(told, text) if draws.chance(0.9) and "\n" in text else text


def _label(match: re.Match[str]) -> str:
    return match[1] + (" " if match[1].endswith((".", "!", "?")) else ": ")


def _inner_stop(item: str) -> bool:
    return bool(re.search(r"[.!?:;]\**\s+\S", item)) or item.endswith((":", "?", "!"))
