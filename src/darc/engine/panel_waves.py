"""Whether the first half of a panel's raters is enough to decide."""

from dataclasses import dataclass

import numpy as np

from darc.decide.decision import Decision
from darc.decide.evidence.adaptive import probability_final
from darc.decide.evidence.asking import is_finished
from darc.decide.evidence.posterior import estimate_noise, posterior
from darc.decide.method import Method
from darc.types import Scores

# Smaller panels are asked at once.
_FEWEST_RATERS = 4
# A less probable choice is not called likely.
_LEAST_PROBABILITY = 0.8


@dataclass(frozen=True)
class LikelyDecision:
    """A decision on the grades of some raters that the others would hardly change."""

    decision: Decision
    #: The probability that the grades of all raters would lead to the same choice.
    probability: float


def first_wave(raters: int) -> list[int]:
    """The raters who are asked first: about half, and as many of each order.

    Args:
        raters: The size of the panel.

    Returns:
        Their places; all of a small panel.
    """
    if raters < _FEWEST_RATERS:
        return list(range(raters))
    return list(range(min(raters, 2 * -(-raters // 4))))


def decide_early(
    method: Method, prompt_id: str, scores: Scores, room: int
) -> LikelyDecision | None:
    """Decide on the grades of the first raters, if asking the others is not worth it.

    The answers' true means are believed in as by the adaptive rule: it stops when no further grade
    is worth its price. The choice must also be the answer that is believed to be the best.

    Args:
        method: How to decide.
        prompt_id: The id of the prompt.
        scores: The grades so far, NaN of the raters who were not asked.
        room: How many more grades each answer can get.

    Returns:
        The decision, or None if the other raters are to be asked.
    """
    decision = method.decide(prompt_id, scores, {})
    samples = method.decided_on(scores)[0]
    if np.isnan(samples).all(axis=1).any():
        return None
    has_graded = ~np.isnan(samples).all(axis=0)
    ratings = samples[None][:, :, has_graded]
    noise = estimate_noise(ratings)
    belief = posterior(ratings, noise)
    rooms = np.full(belief.mean.shape, room)
    leads = belief.mean[0, decision.index] >= belief.mean[0].max()
    if not leads or not bool(is_finished(belief, noise.rating, rooms)[0]):
        return None
    probability = probability_final(ratings[0], belief, noise, rooms[0], decision.index)
    if probability < _LEAST_PROBABILITY:
        return None
    return LikelyDecision(decision, probability)
