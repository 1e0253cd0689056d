"""The plain statements of a text, found so that a transform can rebuild one at a time."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from darc.perturb.lexicon.function_words import FUNCTION_WORDS
from darc.perturb.transforms.occurs import REMEMBERED

_PREFIX = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?(?:\*\*[^*\n]{1,60}\*\*:?[ \t]+)?")
_BOUNDARY = re.compile(r"(?<=[.!?]) +(?=[A-Z*_(\U000f0000-\U000ffffd])")
_ABBREVIATION = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Fig|vs|etc|approx|Inc|Co|e\.g|i\.e|[A-Z])\.\Z"
)
# A hidden span may end in a stop of its own, so a capital after it may open a sentence.
_DOUBTFUL = re.compile(r"[\U000f0000-\U000ffffd] [A-Z]|[*_()\[\]\u2013—]|\.\.")
_LONGEST = 400
_OPENING_WORDS = (
    "some many most several all both each every two three few if when because since as although"
    " once after before until unless while during"
)
_OPENING = FUNCTION_WORDS | set(_OPENING_WORDS.split())


def each_statement(text: str, change: Callable[[str], str], applies: Callable[[str], bool]) -> str:
    """The text with every plain statement that `applies` is true of changed.

    A statement goes from its capital to its full stop.

    Headings, lines without a stop, questions, very long sentences, and those with brackets, dashes
    or emphasis are left as they are. O(length).
    """
    lines, statements, unchanged = _lines(text)
    if not any(map(applies, statements)):
        return unchanged
    return "\n".join(
        line.joined(
            change(piece) if plain and applies(piece) else piece for piece, plain in line.pieces
        )
        for line in lines
    )


class _Line(NamedTuple):
    """What opens a line, and its sentences, each with whether it is a plain statement."""

    prefix: str
    pieces: tuple[tuple[str, bool], ...]

    def joined(self, pieces: Iterable[str]) -> str:
        return self.prefix + " ".join(pieces)


@lru_cache(maxsize=32)
def _lines(text: str) -> tuple[tuple[_Line, ...], tuple[str, ...], str]:
    """The lines of a text, its plain statements, and the lines joined again."""
    lines = tuple(map(_line, text.split("\n")))
    statements = tuple(piece for line in lines for piece, plain in line.pieces if plain)
    return lines, statements, "\n".join(line.joined(p for p, _ in line.pieces) for line in lines)


def _line(line: str) -> _Line:
    if not line.rstrip().endswith((".", "!")) or line.lstrip().startswith("#"):
        return _Line(line, ())
    prefix = _PREFIX.match(line)
    start = prefix.end() if prefix else 0
    found: list[tuple[str, bool]] = []
    doubtful = False
    for piece in _BOUNDARY.split(line[start:]):
        plain, abbreviated = _kind(piece) if len(piece) <= _LONGEST else (False, _ends_short(piece))
        found.append((piece, plain and not doubtful))
        doubtful = abbreviated
    return _Line(line[:start], tuple(found))


@lru_cache(maxsize=REMEMBERED)
def _kind(piece: str) -> tuple[bool, bool]:
    """Whether a sentence is plain in itself, and whether it ends in an abbreviation."""
    abbreviated = _ends_short(piece)
    usual = piece.endswith(".") and piece[:1].isupper() and not abbreviated
    return usual and not _DOUBTFUL.search(piece), abbreviated


def _ends_short(piece: str) -> bool:
    return bool(_ABBREVIATION.search(piece[-10:]))


def capital(words: str) -> str:
    """The words with a capital first letter."""
    return words[:1].upper() + words[1:]


def small(words: str) -> str | None:
    """The words with a small first letter, None if the first may be a name."""
    first = re.match(r"[A-Za-z]+(?:['\u2019][a-z]+)?", words)
    if first is None or first.group().split("'")[0] == "I":
        return words if first else None
    if first.group().lower().split("'")[0] not in _OPENING:
        return None
    return words[:1].lower() + words[1:]
