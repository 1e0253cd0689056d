"""Flaws in the shape of an answer: its ending, length, number of items and paragraphs."""

import math

import numpy as np

from darc.language.data_files import read_patterns
from darc.language.text import Text
from darc.language.word_classes import FUNCTION_WORDS
from darc.parts.scorers import expectation
from darc.parts.scorers.expectation import Expectation
from darc.types import CutOff

SOURCES = (
    "shape.py",
    "../../language/inflection.py",
    "../../language/text.py",
    "../../language/word_classes.py",
    "../../language/word_lists.py",
    "../../language/data/classes.tsv",
    *expectation.SOURCES,
)
_USUAL_SENTENCE_WORDS = 16.0
_MAX_READING_COST = 1.5
_LONG_PARAGRAPH_WORDS = 180
_SHORT_LINE_WORDS = 12
# Only so many characters at the end of a text are searched for its last word.
_TAIL_CHARACTERS = 60
_MARKS = read_patterns("answers.toml", "marks")
_CLOSED = _MARKS["closed"]


def length_cost(request: Expectation, text: Text) -> float:
    """How far the length lies outside the usual range, in doublings, softly at its ends."""
    low, high = request.words
    words = len(text.raw.split()) + 1.0
    return _soft_excess(math.log2(low / words)) + _soft_excess(math.log2(words / high))


def missing_items(request: Expectation, text: Text) -> float:
    """The share of the requested items that an answer lacks, 0 to 1.

    Sentences count as items if the answer has no list.
    """
    if not request.count:
        return 0.0
    item_count = len(text.items)
    if item_count < 2:
        item_count = len(text.sentences)
    return max(0, request.count - item_count) / request.count


def long_paragraph_cost(text: Text) -> float:
    """How much a long answer lacks breaks: doublings of its longest paragraph over 180 words."""
    longest = max((len(line.split()) for line in text.raw.split("\n")), default=0)
    return _soft_excess(math.log2((longest + 1.0) / _LONG_PARAGRAPH_WORDS))


def sentence_length_cost(text: Text) -> float:
    """How far the mean sentence is from 16 words, in squared doublings, 0 to 1.5."""
    if not text.sentences or text.code:
        return 0.0
    mean_words = (len(text.words) + 1.0) / len(text.sentences)
    return min(math.log2(mean_words / _USUAL_SENTENCE_WORDS) ** 2, _MAX_READING_COST)


def ending_cost(text: Text) -> float:
    """How abruptly an answer ends: 0 if properly, up to 1 if it is cut off. O(length)."""
    raw = text.raw.rstrip()
    if not raw or text.fence_is_open or isinstance(text.raw, CutOff):
        return 1.0
    if raw.endswith(("```", "~~~")) or _CLOSED.search(raw):
        return 0.0
    last_word = _MARKS["last word"].search(raw[-_TAIL_CHARACTERS:])
    ends_on_function_word = last_word is not None and last_word[1].lower() in FUNCTION_WORDS
    if ends_on_function_word or _MARKS["dangling"].search(raw):
        return 1.0
    if len(text.items) > 1 and not any(_CLOSED.search(item) for item in text.items):
        return 0.15
    *lines_before, last_line = (line.strip() for line in raw.split("\n"))
    is_signature = len(last_line) < _TAIL_CHARACTERS and _MARKS["signature"].match(last_line)
    if lines_before and is_signature:
        return 0.1
    if len(last_line.split()) <= _SHORT_LINE_WORDS and _are_mostly_open(lines_before):
        return 0.3
    return 0.8


def _are_mostly_open(lines: list[str]) -> bool:
    """Whether most lines lack a proper ending, as those of a poem or a table do."""
    filled_lines = [line for line in lines if line]
    open_lines = sum(not _CLOSED.search(line) for line in filled_lines)
    return len(filled_lines) > 2 and open_lines > 0.7 * len(filled_lines)


def _soft_excess(excess: float) -> float:
    """About the excess where it is positive and 0 where it is negative, without a corner."""
    return float(np.logaddexp(0.0, 3.0 * excess)) / 3.0
