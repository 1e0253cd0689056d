"""Headings as bold lines and back, in title case, or without."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.transform import transform

_HEADING = re.compile(r"^(#{1,6})[ \t]+([^\n#]+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_BOLD_LINE = re.compile(r"^\*\*([^*\n]+?)(:?)\*\*(:?)[ \t]*$", re.MULTILINE)
_SMALL_WORDS = "a an and as at but by for from in nor of on or per the to vs via with"
_SMALL = frozenset(_SMALL_WORDS.split())
_WORD = re.compile(r"[^\W\d_][\w'\u2019]*")


@transform("headings to bold")
def to_bold(text: str, draws: Draws) -> str:
    """Every heading as a bold line."""
    if "#" not in text:
        return text
    return _HEADING.sub(lambda m: "**" + m[2].replace("**", "") + "**", text)


@transform("bold to headings")
def to_headings(text: str, draws: Draws) -> str:
    """Every line that is all bold as a heading of the second or third level."""
    if "#" in text and _HEADING.search(text):
        return text
    level = draws.pick(("##", "###"))
    if "**" not in text:
        return text
    return _BOLD_LINE.sub(lambda m: f"{level} {m[1]}", text)


@transform("title case")
def title_case(text: str, draws: Draws) -> str:
    """Headings with their words capitalised, small words apart."""

    def title(match: re.Match[str]) -> str:
        words = _WORD.sub(
            lambda m: m.group() if m.group() in _SMALL else m.group()[:1].upper() + m.group()[1:],
            match[2],
        )
        return f"{match[1]} {words}"

    return _HEADING.sub(title, text)


@transform("no headings")
def without(text: str, draws: Draws) -> str:
    """The text under its headings, when it has more than one part and each has a body."""
    if text.lstrip().count("\n") < 3:
        return text
    kept = _HEADING.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", kept).strip("\n") if kept.strip() else text


def unheaded(text: str) -> str:
    """The text without any heading, or line that is all bold."""
    text = _HEADING.sub("", text) if "#" in text else text
    return _BOLD_LINE.sub("", text) if "**" in text else text
