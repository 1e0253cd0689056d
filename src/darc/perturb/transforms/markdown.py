"""Headings, emphasis, lists and paragraphs written another way."""

import re

from darc.language.words import LIGHT_WORDS, WORD_LISTS
from darc.perturb.transforms.transform import ABBREVIATION, Draws, transform

_HEADING = re.compile(r"^(#{1,6})[ \t]+([^\n#]+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_BOLD_LINE = re.compile(r"^\*\*([^*\n]+?)(:?)\*\*(:?)[ \t]*$", re.MULTILINE)
_SMALL = WORD_LISTS["small in titles"]
_TITLE_WORD = re.compile(r"[^\W\d_][\w'\u2019]*")


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
        words = _TITLE_WORD.sub(
            lambda m: m.group() if m.group() in _SMALL else m.group()[:1].upper() + m.group()[1:],
            match[2],
        )
        return f"{match[1]} {words}"

    return _HEADING.sub(title, text)


@transform("no headings")
def without_headings(text: str, draws: Draws) -> str:
    """The text under its headings, when it has more than one part and each has a body."""
    if text.lstrip().count("\n") < 3:
        return text
    kept = _HEADING.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", kept).strip("\n") if kept.strip() else text


def unheaded(text: str) -> str:
    """The text without any heading, or line that is all bold."""
    text = _HEADING.sub("", text) if "#" in text else text
    return _BOLD_LINE.sub("", text) if "**" in text else text


_BOLD = re.compile(r"(?<![*\w])\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?![*\w])")
_UNDERSCORED = re.compile(r"(?<![_\w])__(?=\S)([^_\n]+?)(?<=\S)__(?![_\w])")
_ITALIC = re.compile(r"(?<![*\w])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![*\w])")
_LABEL = re.compile(
    r"^([ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+)(\w[\w'\u2019 ()/&-]{1,30})(:)(?=[ \t]+\S)", re.MULTILINE
)
_WORD = re.compile(r"(?<![\w'\u2019-])[a-z]{5,}(?![\w'\u2019-])")
_BOLD_TITLE = re.compile(r"^\s*\*\*[^*\n]+\*\*:?\s*$", re.MULTILINE)


@transform("strip emphasis")
def strip_emphasis(text: str, draws: Draws) -> str:
    """No bold or italic, but for lines that are all bold: they serve as headings."""
    if "*" not in text and "_" not in text:
        return text
    lines = {
        match.start() + len(match.group()) - len(match.group().lstrip())
        for match in _BOLD_TITLE.finditer(text)
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
def emphasis_marks(text: str, draws: Draws) -> str:
    """Bold and italic written with the other mark."""
    if "**" in text:
        return _BOLD.sub(lambda m: f"__{m[1]}__" if "_" not in m[1] else m.group(), text)
    return _UNDERSCORED.sub(r"**\1**", text)


@transform("stress")
def stress(text: str, draws: Draws) -> str:
    """One or two content words in bold or italic, where nothing is emphasised yet."""
    if "*" in text or "_" in text:
        return text
    places = [m for m in _WORD.finditer(text) if m.group() not in LIGHT_WORDS]
    mark = draws.pick(("**", "*"))
    chosen = draws.shuffled(places)[: 1 + draws.chance(0.5)]
    for match in sorted(chosen, key=lambda m: -m.start()):
        text = f"{text[: match.start()]}{mark}{match.group()}{mark}{text[match.end() :]}"
    return text


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
_LIST_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])[ \t]+([^\n]+)", re.MULTILINE)
_ITEMS = re.compile(r"(?:^(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]+(?:\n+|\Z)){2,}", re.MULTILINE)
_LABELLED = re.compile(r"\A\*\*([^*\n]+?):?\*\*:?[ \t]+")
_MOST_WORDS = 14


@transform("list markers")
def list_markers(text: str, draws: Draws) -> str:
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
        items = [item.strip() for item in _LIST_ITEM.findall(match["items"])]
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
        items = [item.strip() for item in _LIST_ITEM.findall(match.group())]
        if any(not item.endswith((".", "!")) or len(item.split()) < 4 for item in items):
            return match.group()
        rest = "\n\n" if match.group().endswith("\n") else ""
        return " ".join(_LABELLED.sub(_label, item) for item in items) + rest

    return _ITEMS.sub(told, text) if draws.chance(0.9) and "\n" in text else text


def _label(match: re.Match[str]) -> str:
    return match[1] + (" " if match[1].endswith((".", "!", "?")) else ": ")


def _inner_stop(item: str) -> bool:
    return bool(re.search(r"[.!?:;]\**\s+\S", item)) or item.endswith((":", "?", "!"))


_ITEM = r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S"
_TIGHT = re.compile(rf"(?m)^({_ITEM}[^\n]*)\n(?={_ITEM})")
_LOOSE = re.compile(rf"(?m)^({_ITEM}[^\n]*)\n\n(?={_ITEM})")
_PLAIN = re.compile(r"(?![ \t]*(?:[-*+•#>|]|\d{1,3}[.)][ \t]))[A-Z][^\n]*[a-z][.!]\Z")
_SENTENCE_END = re.compile(
    r"(?<=[a-z)][.!]) (?=[A-Z])(?<!e\.g\. )(?<!i\.e\. )(?<!etc\. )(?<!vs\. )"
)
_LONG = 45
_SHORT = 40


@transform("paragraph breaks")
def paragraph_breaks(text: str, draws: Draws) -> str:
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
        if not ABBREVIATION.search(paragraph[: m.start()])
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
