"""The plain statements of a text, found so that a transform can rebuild one at a time."""

import re
from collections.abc import Callable

from darc.perturb.lexicon.function_words import FUNCTION_WORDS

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


def each_statement(text: str, change: Callable[[str], str]) -> str:
    """The text with every plain statement, from its capital to its full stop, changed.

    Headings, lines without a stop, questions, very long sentences, and those with brackets, dashes
    or emphasis are left as they are. O(length).
    """
    return "\n".join(_line(line, change) for line in text.split("\n"))


def _line(line: str, change: Callable[[str], str]) -> str:
    if not line.rstrip().endswith((".", "!")) or line.lstrip().startswith("#"):
        return line
    prefix = _PREFIX.match(line)
    start = prefix.end() if prefix else 0
    pieces = _BOUNDARY.split(line[start:])
    kept: list[str] = []
    doubtful = False
    for piece in pieces:
        abbreviated = bool(_ABBREVIATION.search(piece))
        usual = piece.endswith(".") and piece[:1].isupper() and len(piece) <= _LONGEST
        plain = usual and not _DOUBTFUL.search(piece)
        kept.append(change(piece) if plain and not abbreviated and not doubtful else piece)
        doubtful = abbreviated
    return line[:start] + " ".join(kept)


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
