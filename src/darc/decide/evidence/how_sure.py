"""How sure the choice of one prompt is, and what its winner is really worth."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.decide.evidence.posterior import Posterior, certainty
from darc.decide.evidence.winner import REACH, calibration_of, candidate_beliefs, rating_beliefs
from darc.typing import Array

if TYPE_CHECKING:
    from darc.decide.decision import Decision

# An answer that is better by less than this many standard deviations of its ratings is not
# clearly better.
TOLERANCE = 0.25
# The expected regret of the posterior was found to be too small by this factor on real ratings.
REGRET_FACTOR = 4 / 3
# A smaller regret would be printed as 0.00.
SMALLEST_SHOWN_REGRET = 0.005
# With fewer ratings of a pool nothing is known of how far ratings vary.
FEWEST_RATINGS = 2


@dataclass(frozen=True)
class HowSure:
    """How sure a choice is, in the units of the ratings."""

    #: What the chosen answer's mean is expected to be with many more raters; the plain mean of a
    #: winner flatters it.
    expected_mean: float
    #: An interval of about 90 % of that mean.
    low: float
    high: float
    #: The probability that no other answer is better by more than a quarter of the standard
    #: deviation of an answer's ratings.
    probability: float
    #: By how much the best answer is expected to be better than the chosen one.
    expected_regret: float

    def to_dict(self) -> dict[str, Any]:
        """The numbers by their names, and how sure it is in words."""
        return {**asdict(self), "words": self.in_words()}

    def in_words(self) -> str:
        """How sure it is, such as "about 9 in 10 that no other answer is clearly better"."""
        tenths = round(10 * self.probability)
        if tenths >= 10:
            return "it is nearly certain that no other answer is clearly better"
        if tenths < 1:
            return "another answer is very probably clearly better"
        return f"about {tenths} in 10 that no other answer is clearly better"

    def sentence(self, name: str) -> str:
        """How sure the choice is, what its mean is expected to be, and by how much to be beaten.

        Args:
            name: What the chosen answer is called.
        """
        sentence = (
            f"How sure: {self.in_words()}. With many more raters, {name} is expected to "
            f"average {self.expected_mean:.3g} ({self.low:.3g} to {self.high:.3g})"
        )
        if self.expected_regret < SMALLEST_SHOWN_REGRET:
            return f"{sentence}."
        return f"{sentence}, {self.expected_regret:.2f} below the best answer."


def how_sure(decision: "Decision") -> HowSure | None:
    """How sure a decision by ratings is.

    The answers are compared by what the rule `auto` maximises, or by their shrunken means where
    another rule decided.

    Args:
        decision: The decision.

    Returns:
        How sure it is, or None for scores of rewrites, of several scorers, or where nothing was
        rated twice and no calibration says how far ratings vary. Answers that a lazy search ruled
        out early count by the ratings that it saw.
    """
    pools = decision.pools
    if pools.about_wording or pools.shape[1] != 1:
        return None
    count = np.asarray(pools.statistics.count[0], dtype=np.int64)
    knows_noise = calibration_of(decision.rule).within_df > 0
    if count.max(initial=0) < FEWEST_RATINGS and not knows_noise:
        return None
    if not count.any():
        return None
    if decision.partly:
        beliefs = rating_beliefs(decision.ratings[None], pools.present, decision.rule)
    else:
        beliefs = candidate_beliefs(pools, decision.choice, decision.rule)
    rating_variance = float(beliefs.rating_variance[0])
    if not rating_variance > 0:
        return None
    is_rated = beliefs.is_rated[0]
    means = beliefs.mean[0]
    variance = beliefs.variance[0]
    compared = means
    if not decision.partly:
        compared = _compared(decision, means)
    belief = Posterior(
        mean=np.where(is_rated, compared, np.nan)[None],
        variance=np.where(is_rated, variance, 0.0)[None],
    )
    deviation = math.sqrt(rating_variance)
    sure = certainty(belief, np.array([decision.index]), TOLERANCE * deviation)
    expected = float(means[decision.index])
    reach = REACH * math.sqrt(float(variance[decision.index]))
    return HowSure(
        expected_mean=expected,
        low=expected - reach,
        high=expected + reach,
        probability=float(sure.probability[0]),
        expected_regret=REGRET_FACTOR * float(sure.regret[0]),
    )


def _compared(decision: "Decision", means: Array) -> Array:
    """What the candidates are compared by, (K,).

    These are the expected means. Where the answers divide people differently, those that could win
    count less what their disagreement costs. An answer that was ruled out keeps its mean: it is
    worse by the ratings so far, which does not make it certain that it is worse.
    """
    facts = decision.choice.facts
    if "shrunken" not in facts or not float(facts["different"][0]) > 0:
        return means
    score = np.asarray(decision.choice.objective[0])
    return np.where(np.isnan(score), means, score)
