"""A transform: a named, seeded change of form that never touches protected spans, and its tools."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

from darc.core.draws import prompt_seeds, uniforms
from darc.language.markdown import mask
from darc.language.words import LIGHT_WORDS, WORD_LISTS

Item = TypeVar("Item")

_BLOCK = 128


class Draws:
    """Uniform numbers one after another; the same (seed, key) gives the same stream."""

    def __init__(self, seed: int, key: object = "") -> None:
        self._seed = seed
        self._key = key
        self._block = 0
        self._numbers: list[float] = []

    def uniform(self) -> float:
        """The next number in [0, 1)."""
        if not self._numbers:
            seeds = prompt_seeds(self._seed, [f"{self._key}\0{self._block}"])
            self._numbers = uniforms(seeds, _BLOCK)[0].tolist()
            self._block += 1
        return self._numbers.pop()

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely."""
        return items[int(self.uniform() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in random order."""
        return [item for _, _, item in sorted((self.uniform(), i, x) for i, x in enumerate(items))]


def derived(seed: int, *parts: object) -> int:
    """A 64-bit seed that depends on the seed and all the parts."""
    return int(prompt_seeds(seed, ["\0".join(map(str, parts))])[0])


Change = Callable[[str, Draws], str]


@dataclass(frozen=True)
class Transform:
    """`change(masked, draws)` rewrites a text whose protected spans are hidden.

    Calling the transform itself hides them first and puts them back afterwards.
    """

    name: str
    change: Change

    def __call__(self, text: str, draws: Draws) -> str:
        """The changed text; the same text where nothing applies."""
        masked = mask(text)
        return masked.restore(self.change(masked.text, draws))


def transform(name: str) -> Callable[[Change], Transform]:
    """Decorator that makes a `Transform` of a function on masked text."""
    return lambda change: Transform(name, change)


def like(model: str, words: str) -> str:
    """The words with the model's first letter's case."""
    return words[:1].upper() + words[1:] if model[:1].isupper() else words


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


Found = re.Match[str]
Put = Callable[[Found, Draws], str | None]


class Substitution(NamedTuple):
    """What is put for a pattern's matches: a template, or what a function makes, None for as is.

    Each is put with a probability, drawn after the function has made it. `otherwise`: only where
    the step before changed nothing.
    """

    pattern: re.Pattern[str]
    put: str | Put
    chance: float = 1.0
    otherwise: bool = False

    def changed(self, text: str, draws: Draws) -> str:
        """The text with the matches replaced."""
        pattern, put, chance, _ = self

        def replaced(match: Found) -> str:
            new = match.expand(put) if isinstance(put, str) else put(match, draws)
            if new is None or (chance < 1.0 and not draws.chance(chance)):
                return match.group()
            return new

        return pattern.sub(replaced, text)


def replacing(name: str, *steps: Substitution) -> Transform:
    """A transform that goes through the steps, where a pattern of one occurs at all."""
    occurs = occurring(*(step.pattern for step in steps))

    def change(text: str, draws: Draws) -> str:
        if not occurs(text):
            return text
        before = text
        for step in steps:
            if not step.otherwise or text == before:
                before, text = text, step.changed(text, draws)
        return text

    return Transform(name, change)


def rephrasing(name: str, *patterns: re.Pattern[str]) -> Callable[[Put], Transform]:
    """Decorator: a transform of the plain statements that match one of the patterns.

    The function gets the first match, and returns the new statement, or None for as is.
    """
    applies = matching(*patterns)

    def decorate(rephrased: Put) -> Transform:
        def change(text: str, draws: Draws) -> str:
            def changed(sentence: str) -> str:
                found = (match for each in patterns if (match := each.match(sentence)))
                return rephrased(next(found), draws) or sentence

            return each_statement(text, changed, applies)

        return Transform(name, change)

    return decorate


_PREFIX = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?(?:\*\*[^*\n]{1,60}\*\*:?[ \t]+)?")
_BOUNDARY = re.compile(r"(?<=[.!?]) +(?=[A-Z*_(\U000f0000-\U000ffffd])")
ABBREVIATION = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Fig|vs|etc|approx|Inc|Co|e\.g|i\.e|[A-Z])\.\Z"
)
# A hidden span may end in a stop of its own, so a capital after it may open a sentence.
_DOUBTFUL = re.compile(r"[\U000f0000-\U000ffffd] [A-Z]|[*_()\[\]\u2013—]|\.\.")
_LONGEST_STATEMENT = 400
_OPENING = LIGHT_WORDS | WORD_LISTS["opening"]


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
        plain, abbreviated = (
            _kind(piece) if len(piece) <= _LONGEST_STATEMENT else (False, _ends_short(piece))
        )
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
    return bool(ABBREVIATION.search(piece[-10:]))


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
