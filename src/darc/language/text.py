"""The anatomy of a text: prose, code, sentences, words, and spans that no rewrite may touch."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from darc.language.phrases import pattern_texts, patterns, stored

_ANATOMY = patterns("answers.toml", "anatomy")
SENTENCE_END = re.compile(r"(?<=[.!?\u2026])[\"')\]]*\s+|\n+")
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
WORD_OR_NUMBER = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
STRAIGHT = str.maketrans({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})


@dataclass(frozen=True)
class Text:
    """An answer taken apart; parts are made when they are first asked for, each in O(length)."""

    raw: str

    @cached_property
    def code(self) -> list[str]:
        """The contents of fenced code blocks, the last one perhaps never closed."""
        return [match[2] for match in _ANATOMY["block"].finditer(self.raw)]

    @cached_property
    def inline_code(self) -> list[str]:
        """Code between single backquotes, with them."""
        return _ANATOMY["inline code"].findall(_ANATOMY["block"].sub("", self.raw))

    @property
    def fence_is_open(self) -> bool:
        """Whether the last code fence was never closed."""
        return len(_ANATOMY["fence"].findall(self.raw)) % 2 == 1

    @cached_property
    def items(self) -> list[str]:
        """The lines that are list items, without their markers."""
        return [
            line[match.end() :].strip()
            for line in self.raw.splitlines()
            if (match := _ANATOMY["item"].match(line))
        ]

    @cached_property
    def prose(self) -> str:
        """What is left to read without code, addresses and markup, with straight quotes."""
        text = _ANATOMY["block"].sub("\n", self.raw.translate(STRAIGHT))
        text = _ANATOMY["link"].sub(lambda match: match[1] or "", text)
        # A word stands in for code inside a sentence, so that the sentence keeps its shape.
        text = _ANATOMY["inline code"].sub("this", text)
        for mark in ("item", "heading", "emphasis"):
            text = _ANATOMY[mark].sub("", text)
        return text.strip()

    @cached_property
    def lowered(self) -> str:
        """The prose in lower case."""
        return self.prose.lower()

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the prose; a line break ends one."""
        return [part for part in SENTENCE_END.split(self.prose) if WORD.search(part)]

    @cached_property
    def words(self) -> list[str]:
        """The words of the prose in lower case."""
        return WORD.findall(self.lowered)

    @cached_property
    def tokens(self) -> list[str]:
        """Words, numbers and marks of the prose in lower case; an empty line is a mark."""
        return _ANATOMY["token"].findall(self.lowered)

    @cached_property
    def code_lines(self) -> int:
        """How many lines look like code, fenced or not."""
        if self.code:
            return sum(block.count("\n") + 1 for block in self.code)
        return len(_ANATOMY["code line"].findall(self.raw))


_HIDDEN = 0xF0000
_MOST_SPANS = 0xFFFD

PATTERNS = pattern_texts("spans.toml", "spans")
# A list marker is form, not a number: it is stepped over so that the number patterns miss it.
_DIGIT = re.compile(r"\d")
_MARKER = r"(?P<marker>(?m:^[ \t]*\d{1,3}[.)](?=[ \t])))"
_SIGNS = stored("spans.toml")["signs"]


@dataclass(frozen=True)
class Masked:
    """A text whose protected spans are each one private character, and those spans in order."""

    text: str
    hidden: tuple[str, ...]

    def restore(self, text: str) -> str:
        """The text with every hidden span put back."""
        if not self.hidden:
            return text
        return text.translate({_HIDDEN + i: span for i, span in enumerate(self.hidden)})


def mask(text: str) -> Masked:
    """The text with its protected spans hidden; with more than 65533 of them, all of it is."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        span = match.group()
        if match["marker"] is not None or not span:
            return span
        hidden.append(span)
        return chr(_HIDDEN + min(len(hidden) - 1, _MOST_SPANS))

    # The kinds of spans that the text may have.
    kinds = ["date", "number"] if _DIGIT.search(text) else []
    for some in _SIGNS:
        if any(sign in text for sign in some["signs"]):
            kinds += some["kinds"]
    if not text.isascii() and max(text) >= chr(_HIDDEN):
        kinds.append("private")
    pattern = _pattern(*kinds)
    masked = pattern.sub(hide, text) if pattern else text
    if len(hidden) > _MOST_SPANS:
        return Masked(chr(_HIDDEN), (text,))
    return Masked(masked, tuple(hidden))


@cache
def _pattern(*kinds: str) -> re.Pattern[str] | None:
    """What finds spans of the kinds, in the order of the patterns."""
    known = [f"(?:{pattern})" for kind, pattern in PATTERNS.items() if kind in kinds]
    return re.compile("|".join([_MARKER, *known])) if known else None


# A cache holds so many sentences, of so many characters at most.
REMEMBERED = 512
LONGEST = 1000


@lru_cache(maxsize=32)
def pieces(text: str) -> tuple[str, ...]:
    """The text cut after every ". ", each piece with that of the last and the letter before it.

    There are none where a piece is too long to be remembered.
    """
    found: list[str] = []
    start, stop = 0, text.find(". ")
    while stop >= 0:
        found.append(text[start : stop + 2])
        start = max(0, stop - 1)
        stop = text.find(". ", stop + 2)
    found.append(text[start:])
    return tuple(found) if max(map(len, found)) <= LONGEST else ()


_PREFIX = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?(?:\*\*[^*\n]{1,60}\*\*:?[ \t]+)?")
_BOUNDARY = re.compile(r"(?<=[.!?]) +(?=[A-Z*_(\U000f0000-\U000ffffd])")
ABBREVIATION = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Fig|vs|etc|approx|Inc|Co|e\.g|i\.e|[A-Z])\.\Z"
)
# A hidden span may end in a stop of its own, so a capital after it may open a sentence.
_DOUBTFUL = re.compile(r"[\U000f0000-\U000ffffd] [A-Z]|[*_()\[\]\u2013—]|\.\.")
_LONGEST_STATEMENT = 400


def each_statement(text: str, change: Callable[[str], str], applies: Callable[[str], bool]) -> str:
    """The masked text with every plain statement that `applies` is true of changed.

    A statement goes from its capital to its full stop. Headings, lines without a stop, questions,
    very long sentences, and those with brackets, dashes or emphasis are left as they are.
    O(length).
    """
    lines, statements, unchanged = _lines(text)
    if not any(map(applies, statements)):
        return unchanged
    return "\n".join(
        prefix + " ".join(change(each) if plain and applies(each) else each for each, plain in line)
        for prefix, line in lines
    )


# What opens a line, and its sentences, each with whether it is a plain statement.
_Line = tuple[str, tuple[tuple[str, bool], ...]]


@lru_cache(maxsize=32)
def _lines(text: str) -> tuple[tuple[_Line, ...], tuple[str, ...], str]:
    """The lines of a text, its plain statements, and the lines joined again."""
    lines = tuple(map(_line, text.split("\n")))
    statements = tuple(each for _, line in lines for each, plain in line if plain)
    joined = (prefix + " ".join(each for each, _ in line) for prefix, line in lines)
    return lines, statements, "\n".join(joined)


def _line(line: str) -> _Line:
    if not line.rstrip().endswith((".", "!")) or line.lstrip().startswith("#"):
        return line, ()
    prefix = _PREFIX.match(line)
    start = prefix.end() if prefix else 0
    found: list[tuple[str, bool]] = []
    doubtful = False
    for piece in _BOUNDARY.split(line[start:]):
        plain, abbreviated = _kind(piece) if len(piece) <= LONGEST else _kind.__wrapped__(piece)
        found.append((piece, plain and not doubtful))
        doubtful = abbreviated
    return line[:start], tuple(found)


@lru_cache(maxsize=REMEMBERED)
def _kind(piece: str) -> tuple[bool, bool]:
    """Whether a sentence is plain in itself, and whether it ends in an abbreviation."""
    abbreviated = bool(ABBREVIATION.search(piece[-10:]))
    usual = piece.endswith(".") and piece[:1].isupper() and len(piece) <= _LONGEST_STATEMENT
    return usual and not abbreviated and not _DOUBTFUL.search(piece), abbreviated
