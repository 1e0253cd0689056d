"""Cutting a masked text into pieces and plain statements, so that work on them can be cached.

The rewrites of one answer share most of their sentences.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

#: How many sentences a cache of results by sentence holds.
CACHED_SENTENCES = 512
#: The largest number of characters of a sentence that is cached.
MAX_CACHED_CHARACTERS = 1000
#: A word at the end of a text whose full stop does not end a sentence.
ABBREVIATION = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Fig|vs|etc|approx|Inc|Co|e\.g|i\.e|[A-Z])\.\Z"
)
_MAX_STATEMENT_CHARACTERS = 400
_LINE_PREFIX = re.compile(
    r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?(?:\*\*[^*\n]{1,60}\*\*:?[ \t]+)?"
)
_SENTENCE_BOUNDARY = re.compile(r"(?<=[.!?]) +(?=[A-Z*_(\U000f0000-\U000ffffd])")
# A hidden span may end in a full stop of its own, so that a capital after it may open a sentence.
_NOT_PLAIN = re.compile(r"[\U000f0000-\U000ffffd] [A-Z]|[*_()\[\]\u2013—]|\.\.")


class _Sentence(NamedTuple):
    text: str
    is_plain_statement: bool


class _Line(NamedTuple):
    # Indentation, list marker and bold label.
    prefix: str
    sentences: tuple[_Sentence, ...]


class _SplitText(NamedTuple):
    lines: tuple[_Line, ...]
    statements: tuple[str, ...]
    # The text with one space between sentences.
    joined: str


@lru_cache(maxsize=32)
def pieces(text: str) -> tuple[str, ...]:
    """Cut a text after every ". ".

    Args:
        text: A masked text.

    Returns:
        The pieces. Each but the first begins with the ". " of the piece before it and the
        character before that. Empty if a piece is too long to be cached.
    """
    result: list[str] = []
    start = 0
    stop = text.find(". ")
    while stop >= 0:
        result.append(text[start : stop + 2])
        start = max(0, stop - 1)
        stop = text.find(". ", stop + 2)
    result.append(text[start:])
    if max(map(len, result)) > MAX_CACHED_CHARACTERS:
        return ()
    return tuple(result)


def change_statements(
    text: str, change: Callable[[str], str], applies: Callable[[str], bool]
) -> str:
    """Change the plain statements of a masked text. O(length).

    A statement goes from its capital letter to its full stop. Headings, lines without a full stop,
    questions, very long sentences, and sentences with brackets, dashes or emphasis are not plain.

    Args:
        text: The masked text.
        change: Returns a statement's replacement.
        applies: Tells whether a statement is to be changed.

    Returns:
        The text, with one space between sentences.
    """
    split_text = _split_text(text)
    if not any(map(applies, split_text.statements)):
        return split_text.joined

    def changed(sentence: _Sentence) -> str:
        if sentence.is_plain_statement and applies(sentence.text):
            return change(sentence.text)
        return sentence.text

    return "\n".join(
        line.prefix + " ".join(map(changed, line.sentences)) for line in split_text.lines
    )


@lru_cache(maxsize=32)
def _split_text(text: str) -> _SplitText:
    lines = tuple(map(_split_line, text.split("\n")))
    statements = tuple(
        sentence.text
        for line in lines
        for sentence in line.sentences
        if sentence.is_plain_statement
    )
    joined_lines = [
        line.prefix + " ".join(sentence.text for sentence in line.sentences) for line in lines
    ]
    return _SplitText(lines, statements, "\n".join(joined_lines))


def _split_line(line: str) -> _Line:
    """Split a line into its prefix and sentences; a heading or a line without a stop has none."""
    if not line.rstrip().endswith((".", "!")) or line.lstrip().startswith("#"):
        return _Line(line, ())
    prefix = _LINE_PREFIX.match(line)
    start = prefix.end() if prefix else 0
    sentences: list[_Sentence] = []
    after_abbreviation = False
    for piece in _SENTENCE_BOUNDARY.split(line[start:]):
        if len(piece) <= MAX_CACHED_CHARACTERS:
            is_plain, is_abbreviated = _inspect(piece)
        else:
            is_plain, is_abbreviated = _inspect.__wrapped__(piece)
        sentences.append(_Sentence(piece, is_plain and not after_abbreviation))
        after_abbreviation = is_abbreviated
    return _Line(line[:start], tuple(sentences))


@lru_cache(maxsize=CACHED_SENTENCES)
def _inspect(piece: str) -> tuple[bool, bool]:
    """Whether a sentence is plain by itself, and whether it ends in an abbreviation."""
    is_abbreviated = bool(ABBREVIATION.search(piece[-10:]))
    is_plain = (
        piece.endswith(".")
        and piece[:1].isupper()
        and len(piece) <= _MAX_STATEMENT_CHARACTERS
        and not is_abbreviated
        and not _NOT_PLAIN.search(piece)
    )
    return is_plain, is_abbreviated
