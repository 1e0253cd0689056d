"""Cells of a sheet as ratings: numbers in the ways that people write them, and words."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from darc.errors import InputError
from darc.ratings.rating_words import NO_RATING, likely_order, plain_word, word_scale

# How many words of a scale an error lists.
_MAX_WORDS = 12
_MAX_LABEL = 40
_DASHES = "-\u2013\u2014"
_NUMBER = r"[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][-+]?\d+)?"
_PLAIN_NUMBER = re.compile(_NUMBER)
_PERCENT = re.compile(rf"({_NUMBER})\s*%")
_OUT_OF = re.compile(rf"({_NUMBER})\s*(?:/|out of|of|von|sur|de)\s*(\d+)", re.IGNORECASE)
_NUMBER_FIRST = re.compile(
    rf"({_NUMBER})\s*(?:[{_DASHES}:=.)]\s*|\s|\()\(?\s*([^\W\d].*?)\)?", re.DOTALL
)
_NUMBER_LAST = re.compile(
    rf"([^\W\d][^\d]*?)(?:\s+[{_DASHES}]\s+|\s*[:=]\s*|\s*\()({_NUMBER})\)?", re.DOTALL
)
_STARS = re.compile(r"[★⭐🌟]+[☆✩️]*")
_STAR = re.compile(r"[★⭐🌟]")


class UnknownWords(InputError):
    """Ratings are words, and nobody has said what they stand for.

    Args:
        source: The file.
        numbers: The words from the worst to the best, with their numbers where they are known.
        mixed: Whether other ratings are numbers.
    """

    def __init__(self, source: str, numbers: Mapping[str, float | None], mixed: bool) -> None:
        parts = [f"{word}={_number_text(number)}" for word, number in numbers.items()]
        example = ",".join(parts[:_MAX_WORDS])
        word = next((word for word in numbers if numbers[word] is None), next(iter(numbers)))
        message = f"{source}: ratings such as {word!r} are words"
        if mixed:
            message += ", and others are numbers"
        hint = f'say what the words stand for: --scale "{example}"'
        if None in numbers.values():
            hint += ", with a number in place of each ?"
        super().__init__(message, hint)
        #: The words, with their numbers where they are known.
        self.numbers = dict(numbers)


def _number_text(number: float | None) -> str:
    if number is None:
        return "?"
    return f"{number:g}"


@dataclass(frozen=True)
class _Cell:
    """What a cell says."""

    #: The number, None for a word.
    number: float | None = None
    #: The word, or the label beside the number.
    word: str = ""
    #: "%" for a percentage, "/5" for a number out of five.
    unit: str = ""


@dataclass
class RatingScale:
    """What the cells of the rating columns stand for."""

    #: The number of each word that the user or a known scale gives.
    numbers: Mapping[str, float] = field(default_factory=dict)

    def rating(self, text: str) -> float | None:
        """The rating in a cell, None where there is none."""
        word = plain_word(text)
        if word in self.numbers:
            return self.numbers[word]
        cell = _parse(text)
        if cell is None:
            return None
        if cell.number is not None:
            return cell.number
        return self.numbers.get(cell.word)


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no rating."""
    return plain_word(text) in NO_RATING


def is_rating(text: str) -> bool:
    """Whether a cell is a number or a word that people rate with."""
    cell = _parse(text)
    if cell is None:
        return False
    return cell.number is not None or word_scale([cell.word]) is not None


def find_scale(source: str, texts: Iterable[str], scale: Mapping[str, float]) -> RatingScale:
    """Find out what the cells of the rating columns stand for.

    Args:
        source: What errors call the file.
        texts: The cells.
        scale: The numbers of words that the user gives, by the word in any spelling.

    Raises:
        UnknownWords: Words are of no known scale, or stand beside numbers.
        InputError: Percentages, or numbers out of different totals, are mixed.
    """
    given = {plain_word(word): number for word, number in scale.items()}
    spelling: dict[str, str] = {}
    units: Counter[str] = Counter()
    for text in texts:
        cell = _parse(text)
        if cell is None or plain_word(text) in given or cell.word in given:
            continue
        if cell.number is None:
            spelling.setdefault(cell.word, text.strip())
        else:
            units[cell.unit] += 1
    if len(units) > 1:
        listed = " and ".join(repr(unit) if unit else "plain numbers" for unit in units)
        raise InputError(f"{source}: ratings have different units ({listed})", "write all in one")
    if not spelling:
        return RatingScale(given)
    known = None
    if not given and not units:
        known = word_scale(spelling)
    if known is None:
        order = likely_order(spelling)
        numbers = {spelling[word]: order[word] for word in order}
        raise UnknownWords(source, numbers, mixed=bool(units))
    return RatingScale(known)


def kind_of_ratings(texts: Iterable[str], scale: Mapping[str, float]) -> str:
    """What the ratings of a column are, if all cells that are not empty are ratings of one scale.

    Args:
        texts: The cells of the column.
        scale: The numbers of words that the user gives.

    Returns:
        "numbers", "words", or "" for a column that does not hold ratings.
    """
    given = {plain_word(word) for word in scale}
    words = set()
    label_of_number: dict[float, str] = {}
    has_number = False
    has_given_word = False
    for text in texts:
        cell = _parse(text)
        if cell is None:
            continue
        if plain_word(text) in given or cell.word in given:
            has_given_word = True
            continue
        if cell.number is None:
            words.add(cell.word)
            continue
        has_number = True
        if cell.word and label_of_number.setdefault(cell.number, cell.word) != cell.word:
            return ""
    if words:
        return "words" if word_scale(words) is not None else ""
    if has_given_word:
        return "words"
    return "numbers" if has_number else ""


def _parse(text: str) -> _Cell | None:
    """What a cell says, None where it is empty or says that there is no rating."""
    word = plain_word(text)
    if word in NO_RATING:
        return None
    text = text.strip()
    if text[:1] in "[{":
        return _parse_json(text)
    if _PLAIN_NUMBER.fullmatch(text):
        return _Cell(_as_float(text))
    if _STARS.fullmatch(text):
        return _Cell(float(len(_STAR.findall(text))))
    match = _PERCENT.fullmatch(text)
    if match:
        return _Cell(_as_float(match[1]), unit="%")
    match = _OUT_OF.fullmatch(text)
    if match:
        return _Cell(_as_float(match[1]), unit=f"/{match[2]}")
    if len(text) <= _MAX_LABEL:
        match = _NUMBER_FIRST.fullmatch(text)
        if match:
            return _Cell(_as_float(match[1]), plain_word(match[2]))
        match = _NUMBER_LAST.fullmatch(text)
        if match:
            return _Cell(_as_float(match[2]), plain_word(match[1]))
    return _Cell(word=word)


def _parse_json(text: str) -> _Cell:
    """The rating in a cell of JSON, as Label Studio writes them into tables."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return _Cell(word=plain_word(text))
    while isinstance(value, list | dict) and value:
        if isinstance(value, list):
            value = value[0]
        else:
            name = next((name for name in ("rating", "number", "choices") if name in value), None)
            value = value[name] if name else next(iter(value.values()))
    parsed = None
    if not isinstance(value, list | dict):
        parsed = _parse(str(value))
    return parsed or _Cell(word=plain_word(text))


def _as_float(text: str) -> float:
    number = float(text.replace(",", "."))
    if not math.isfinite(number):
        raise InputError(f"{text!r} is too large a number", "leave the cell empty if it is missing")
    return number
