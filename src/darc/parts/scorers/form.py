"""Is the answer complete, of sensible length and shape, and civil."""

from collections.abc import Sequence

import numpy as np

from darc.language.text import Text
from darc.parts.scorers import flaws
from darc.parts.scorers.base import Pair, from_costs, source_version
from darc.parts.scorers.flaws import expectation
from darc.registry import scorer
from darc.typing import Array

# What the flaws of a text cost, and those of a text as an answer to a request.
TEXT_COSTS = (
    (0.8, flaws.rudeness),
    (3.0, flaws.shouting),
    (0.12, flaws.padding),
    (0.8, flaws.leaks),
    (0.5, flaws.ending_cost),
    (0.15, flaws.wall),
    (0.2, flaws.reading_cost),
    (1.5, flaws.filler),
)
ANSWER_COSTS = ((0.3, flaws.length_cost), (0.8, flaws.shortfall))

SOURCES = ("form.py", *flaws.SOURCES)


@scorer("form")
class Form:
    """Completeness, length, layout and manners of an answer, 0 to 1; English only.

    Measures: a proper ending, closed code fences, as many items as were asked for, a length that
    suits the request, sentences and paragraphs that can be read, few fillers, and the absence of
    insults, threats, shouting, flattery, boilerplate and template tokens. It does not see whether
    the answer is on the subject or true, and its lists of rude words are short: it is no filter of
    harmful content.
    """

    name = "form"
    version = source_version(*SOURCES)
    in_process = True
    # Printed by `python -m tests.parts.scorers.calibrate`.
    location = 0.848
    scale = 0.151
    bounds = (0.0, 1.0)

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One number between 0 and 1 a pair, (n,); about 1 ms for 200 words."""
        questions = {prompt.question for prompt, _ in pairs}
        requests = {question: expectation(question) for question in questions}
        costs = [_cost(requests[prompt.question], Text(answer)) for prompt, answer in pairs]
        return from_costs(np.array(costs, dtype=np.float64))


def _cost(request: flaws.Expectation, text: Text) -> float:
    """What the form and the manners of one answer cost."""
    alone = sum(weight * flaw(text) for weight, flaw in TEXT_COSTS)
    return alone + sum(weight * flaw(request, text) for weight, flaw in ANSWER_COSTS)
