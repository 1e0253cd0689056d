"""Whether a pattern can occur in a text, remembered sentence by sentence.

Rewrites of one answer share most of their sentences, so a pattern is looked for once in each.
"""

import re
from collections.abc import Callable
from functools import lru_cache

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


def occurring(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    """A test that is False only where none of the patterns occurs in a text.

    A pattern must need no more of what stands before or after a ". " than a piece has.
    """

    @lru_cache(maxsize=REMEMBERED)
    def found(piece: str) -> bool:
        return any(pattern.search(piece) for pattern in patterns)

    def occurs(text: str) -> bool:
        parts = pieces(text)
        return not parts or any(map(found, parts))

    return occurs


def matching(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    """A test of whether one of the patterns matches a sentence from its start."""

    @lru_cache(maxsize=REMEMBERED)
    def matches(sentence: str) -> bool:
        return any(pattern.match(sentence) for pattern in patterns)

    return matches
