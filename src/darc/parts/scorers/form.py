"""The scorer `form`: is the answer complete, of sensible length and shape, and polite?"""

from collections.abc import Sequence

import numpy as np

from darc.language.text import Text
from darc.parts.scorers import manners, shape
from darc.parts.scorers.base import Pair, scores_from_costs, source_version
from darc.parts.scorers.expectation import Expectation, read_expectation
from darc.registry import scorer
from darc.typing import Array

SOURCES = ("form.py", *manners.SOURCES, *shape.SOURCES)
# The weights of flaws that show in the text alone.
_TEXT_COSTS = (
    (0.8, manners.rudeness),
    (3.0, manners.shouting),
    (0.12, manners.padding),
    (0.8, manners.template_tokens),
    (0.5, shape.ending_cost),
    (0.15, shape.long_paragraph_cost),
    (0.2, shape.sentence_length_cost),
    (1.5, manners.filler),
)
# The weights of flaws of a text as an answer to its request.
_ANSWER_COSTS = ((0.3, shape.length_cost), (0.8, shape.missing_items))


@scorer("form")
class Form:
    """Completeness, length, layout and manners of an answer, 0 to 1; English only.

    It measures a proper ending, closed code fences, as many items as were asked for, a length that
    suits the request, sentences and paragraphs that can be read, few fillers, and the absence of
    insults, threats, shouting, flattery, boilerplate and template tokens. It does not see whether
    the answer is on the subject or true, and its lists of rude words are short: it is not a filter
    for harmful content.
    """

    name = "form"
    version = source_version(*SOURCES)
    in_process = True
    # Printed by `python -m tests.parts.scorers.calibrate`.
    location = 0.848
    scale = 0.151
    bounds = (0.0, 1.0)

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs between 0 and 1, (pairs,); about 1 ms for 200 words."""
        questions = {prompt.question for prompt, _ in pairs}
        requests = {question: read_expectation(question) for question in questions}
        costs = [_cost(requests[prompt.question], Text(answer)) for prompt, answer in pairs]
        return scores_from_costs(np.array(costs, dtype=np.float64))


def _cost(request: Expectation, text: Text) -> float:
    """What the form and the manners of one answer cost."""
    text_cost = sum(weight * flaw(text) for weight, flaw in _TEXT_COSTS)
    return text_cost + sum(weight * flaw(request, text) for weight, flaw in _ANSWER_COSTS)
