"""Bold and italic added, exchanged or taken away."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.lexicon.function_words import FUNCTION_WORDS
from darc.perturb.transforms.transform import transform

_BOLD = re.compile(r"(?<![*\w])\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?![*\w])")
_UNDERSCORED = re.compile(r"(?<![_\w])__(?=\S)([^_\n]+?)(?<=\S)__(?![_\w])")
_ITALIC = re.compile(r"(?<![*\w])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![*\w])")
_LABEL = re.compile(
    r"^([ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+)(\w[\w'\u2019 ()/&-]{1,30})(:)(?=[ \t]+\S)", re.MULTILINE
)
_WORD = re.compile(r"(?<![\w'\u2019-])[a-z]{5,}(?![\w'\u2019-])")
_BOLD_LINE = re.compile(r"^\s*\*\*[^*\n]+\*\*:?\s*$", re.MULTILINE)


@transform("strip emphasis")
def strip(text: str, draws: Draws) -> str:
    """No bold or italic, but for lines that are all bold: they serve as headings."""
    if "*" not in text and "_" not in text:
        return text
    lines = {
        match.start() + len(match.group()) - len(match.group().lstrip())
        for match in _BOLD_LINE.finditer(text)
    }
    text = _BOLD.sub(lambda m: m.group() if m.start() in lines else m[1], text)
    return _ITALIC.sub(r"\1", _UNDERSCORED.sub(r"\1", text))


@transform("bold labels")
def bold_labels(text: str, draws: Draws) -> str:
    """The label that opens a list item ("Cost: ...") in bold, or bold labels plain."""
    if "**" not in text:
        return _LABEL.sub(r"\1**\2\3**", text)
    return text


@transform("emphasis marks")
def marks(text: str, draws: Draws) -> str:
    """Bold and italic written with the other mark."""
    if "**" in text:
        return _BOLD.sub(lambda m: f"__{m[1]}__" if "_" not in m[1] else m.group(), text)
    return _UNDERSCORED.sub(r"**\1**", text)


@transform("stress")
def stress(text: str, draws: Draws) -> str:
    """One or two content words in bold or italic, where nothing is emphasised yet."""
    if "*" in text or "_" in text:
        return text
    places = [m for m in _WORD.finditer(text) if m.group() not in FUNCTION_WORDS]
    mark = draws.pick(("**", "*"))
    chosen = draws.shuffled(places)[: 1 + draws.chance(0.5)]
    for match in sorted(chosen, key=lambda m: -m.start()):
        text = f"{text[: match.start()]}{mark}{match.group()}{mark}{text[match.end() :]}"
    return text
