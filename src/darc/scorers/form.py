"""Is the answer complete, of sensible length and shape, and civil."""

import math
from collections.abc import Sequence

import numpy as np

from darc.language.text import Text
from darc.registry import scorer
from darc.scorers.base import LANGUAGE, PHRASES, Pair, from_costs, source_version
from darc.scorers.expectation import Expectation, expectation
from darc.scorers.flaws import FILLERS, ending_cost, leaks, padding, rudeness, shouting
from darc.typing import Array

RUDENESS_COST = 0.8
SHOUTING_COST = 3.0
PADDING_COST = 0.12
LEAK_COST = 0.8
ENDING_COST = 0.5
LENGTH_COST = 0.3
WALL_COST = 0.15
READING_COST = 0.2
USUAL_SENTENCE = 16.0
MOST_READING = 1.5
FILLER_COST = 1.5
SHORTFALL_COST = 0.8
WALL_WORDS = 180

SOURCES = ("form.py", "flaws.py", "expectation.py", *LANGUAGE, *PHRASES)


@scorer("form")
class Form:
    """Completeness, length, layout and manners of an answer, 0 to 1.

    Measures: a proper ending, closed code fences, as many items as were asked for, a length that
    suits the request, sentences and paragraphs that can be read, few fillers, and the absence of
    insults, threats, shouting, flattery, boilerplate and template tokens. It does not see whether
    the answer is on the subject or true, and its lists of rude words are short: it is no filter of
    harmful content.
    """

    name = "form"
    version = source_version(*SOURCES)
    in_process = True
    # Printed by `python -m tests.scorers.calibrate`.
    location = 0.848
    scale = 0.151
    bounds = (0.0, 1.0)

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One number between 0 and 1 a pair, (n,); about 1 ms for 200 words."""
        questions = {prompt.question for prompt, _ in pairs}
        requests = {question: expectation(question) for question in questions}
        costs = [_cost(requests[prompt.question], Text(answer)) for prompt, answer in pairs]
        return from_costs(np.array(costs, dtype=np.float64))


def _cost(request: Expectation, text: Text) -> float:
    """What the form and the manners of one answer cost."""
    return (
        RUDENESS_COST * rudeness(text)
        + SHOUTING_COST * shouting(text)
        + PADDING_COST * padding(text)
        + LEAK_COST * leaks(text)
        + ENDING_COST * ending_cost(text)
        + LENGTH_COST * length_cost(request, text)
        + WALL_COST * wall(text)
        + READING_COST * reading_cost(text)
        + FILLER_COST * filler(text)
        + SHORTFALL_COST * shortfall(request, text)
    )


def length_cost(request: Expectation, text: Text) -> float:
    """How far the length lies outside the usual range, in doublings, softly at its ends."""
    low, high = request.words
    words = len(text.raw.split()) + 1.0
    below, above = math.log2(low / words), math.log2(words / high)
    return _soft(below) + _soft(above)


def shortfall(request: Expectation, text: Text) -> float:
    """The share of the items asked for that an answer lacks, 0 to 1; sentences count as items."""
    if not request.count:
        return 0.0
    given = len(text.items) if len(text.items) > 1 else len(text.sentences)
    return max(0, request.count - given) / request.count


def wall(text: Text) -> float:
    """How much a long answer lacks breaks: doublings of its longest paragraph over 180 words."""
    longest = max((len(part.split()) for part in text.raw.split("\n")), default=0)
    return _soft(math.log2((longest + 1.0) / WALL_WORDS))


def reading_cost(text: Text) -> float:
    """How far the mean sentence is from 16 words, in squared doublings, 0 to 1.5."""
    if not text.sentences or text.code:
        return 0.0
    mean = (len(text.words) + 1.0) / len(text.sentences)
    return min(math.log2(mean / USUAL_SENTENCE) ** 2, MOST_READING)


def filler(text: Text) -> float:
    """The share of words that only pad or intensify, 0 to 1."""
    return sum(word in FILLERS for word in text.words) / max(len(text.words), 20)


def _soft(excess: float) -> float:
    """About the excess where it is positive and 0 where it is negative, without a corner."""
    return float(np.logaddexp(0.0, 3.0 * excess)) / 3.0
