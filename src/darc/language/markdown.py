"""The parts of a text that no rewrite may touch, found, hidden and put back byte for byte."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from darc.language.phrases import pattern_texts

_HIDDEN = 0xF0000
_MOST_SPANS = 0xFFFD

PATTERNS = pattern_texts("spans.toml", "spans")
# A list marker is form, not a number: it is stepped over so that the number patterns miss it.
_DIGIT = re.compile(r"\d")
_MARKER = r"(?P<marker>(?m:^[ \t]*\d{1,3}[.)](?=[ \t])))"
# Kinds of spans with signs of which one is in every span of them; so few that there are not many
# patterns to compile. Dates and numbers are told by a digit, private characters by their plane.
_MARKED = ("fence", "block quote", "table", "indented code", "code", "display mathematics")
_SIGNS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        (*_MARKED, "mathematics", "link", "address", "tag"),
        ("`", "~~~", ">", "|", "    ", "\t", "$", "\\", "](", "://", "www.", "@", "<"),
    ),
    (("quotation",), ('"', "'", "“", "«", "„", "\u2018")),
    (("equation",), tuple("=+^<>≤≥≈\u00d7÷±→")),
    (("date", "number"), ()),
)


class Span(NamedTuple):
    """A stretch of text; a protected one must reach every rewrite unchanged."""

    text: str
    protected: bool


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


def split(text: str) -> list[Span]:
    """Protected and free spans in order, none empty; joined they are the text."""
    spans: list[Span] = []
    free_from = 0
    pattern = _pattern(*_kinds(text))
    for match in pattern.finditer(text) if pattern else ():
        if match["marker"] is not None or match.start() == match.end():
            continue
        if match.start() > free_from:
            spans.append(Span(text[free_from : match.start()], False))
        spans.append(Span(match.group(), True))
        free_from = match.end()
    if free_from < len(text):
        spans.append(Span(text[free_from:], False))
    return spans


def _kinds(text: str) -> Iterator[str]:
    """The kinds of spans that the text may have."""
    for kinds, signs in _SIGNS:
        if any(sign in text for sign in signs) if signs else _DIGIT.search(text):
            yield from kinds
    if not text.isascii() and max(text) >= chr(_HIDDEN):
        yield "private"


@cache
def _pattern(*kinds: str) -> re.Pattern[str] | None:
    """What finds spans of the kinds, in the order of the patterns."""
    known = [f"(?:{pattern})" for kind, pattern in PATTERNS.items() if kind in kinds]
    return re.compile("|".join([_MARKER, *known])) if known else None


def join(spans: list[Span]) -> str:
    """The text that the spans were split from."""
    return "".join(span.text for span in spans)


def mask(text: str) -> Masked:
    """The text with its protected spans hidden; with more than 65533 of them, all of it is."""
    spans = split(text)
    hidden = tuple(span.text for span in spans if span.protected)
    if len(hidden) > _MOST_SPANS:
        return Masked(chr(_HIDDEN), (text,))
    characters = (chr(_HIDDEN + i) for i in range(len(hidden)))
    return Masked(
        "".join(next(characters) if span.protected else span.text for span in spans), hidden
    )


def protected(text: str) -> list[str]:
    """The protected spans of a text, in order."""
    return [span.text for span in split(text) if span.protected]
