"""Is the answer complete, of sensible length and shape, and civil."""

from collections.abc import Sequence

import numpy as np

from darc.language.text import Text
from darc.registry import scorer
from darc.scorers import flaws
from darc.scorers.base import Pair, from_costs, source_version
from darc.scorers.flaws import (
    Expectation,
    ending_cost,
    expectation,
    filler,
    leaks,
    length_cost,
    padding,
    reading_cost,
    rudeness,
    shortfall,
    shouting,
    wall,
)
from darc.typing import Array

RUDENESS_COST = 0.8
SHOUTING_COST = 3.0
PADDING_COST = 0.12
LEAK_COST = 0.8
ENDING_COST = 0.5
LENGTH_COST = 0.3
WALL_COST = 0.15
READING_COST = 0.2
FILLER_COST = 1.5
SHORTFALL_COST = 0.8

SOURCES = ("form.py", *flaws.SOURCES)


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
