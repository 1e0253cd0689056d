"""A promise about how many of the answers that are shown are bad, as a calibration carries it."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt

from darc.decide.evidence.guarantee import shown_in_batch
from darc.typing import Array, Mask

Number = Annotated[float, Gt(-math.inf), Lt(math.inf)]
Share = Annotated[float, Ge(0), Lt(1)]
PromiseKind = Literal["batch", "overall", "shown"]

# From so many prompts that are decided together on, a batch has its own threshold.
SMALLEST_BATCH = 20


@dataclass(frozen=True)
class Promise:
    """How many bad answers there may be, and which answers are shown to keep to it."""

    #: "batch": of the answers shown, at most `level` are bad, on average over batches.
    #: "overall": at most `level` of all prompts get a bad answer. "shown": as "batch", with 95 %
    #: confidence.
    kind: PromiseKind
    #: What a rater says of a bad answer, such as "rating < 4".
    risk: str
    #: The largest share of bad answers.
    level: Share
    #: The lower end of the winner's expected mean from which on an answer is shown.
    threshold: Number
    #: The caution of the choices that it was measured on.
    caution: Number
    #: On how many prompts it was measured.
    prompts: int
    #: How many ratings an answer had there, on average.
    ratings_per_answer: Number
    #: The share of those prompts whose answer would be shown.
    coverage: Annotated[float, Ge(0)]
    #: The scores of the prompts whose answer was good and of those whose answer was bad; for
    #: batches only.
    good_scores: tuple[Number, ...] = field(default=(), repr=False)
    bad_scores: tuple[Number, ...] = field(default=(), repr=False)

    def is_shown(self, score: Array) -> Mask:
        """Which answers of prompts that are decided together are shown, (P,).

        Args:
            score: The lower end of each winner's expected mean, (P,); NaN where it is not known,
                which is not shown.
        """
        is_scored = ~np.isnan(score)
        if self.kind != "batch" or len(score) < SMALLEST_BATCH:
            return np.asarray(is_scored & (score >= self.threshold))
        good = np.array(self.good_scores)
        bad = np.array(self.bad_scores)
        known = np.concatenate([good, bad])
        is_bad = np.repeat([0.0, 1.0], [len(good), len(bad)])
        return shown_in_batch(known, is_bad, np.nan_to_num(score, nan=-np.inf), self.level)

    def in_words(self) -> str:
        """The promise as a sentence."""
        percent = f"{100 * self.level:.3g} %"
        if self.kind == "overall":
            return f"At most {percent} of all prompts get a bad answer ({self.risk}), on average."
        of_shown = f"Of the answers that are shown, at most {percent} are bad ({self.risk})"
        if self.kind == "shown":
            return f"{of_shown}, with 95 % confidence."
        return f"{of_shown}, on average over batches of prompts."


def batch_threshold(score: Array, is_bad: Array, level: float) -> float:
    """The threshold of `shown_in_batch` for a large batch with the scores of the calibration.

    Args:
        score: The score of each calibration prompt.
        is_bad: 0 or 1 per calibration prompt: the verdict of one other rater.
        level: The largest expected share of bad answers among those shown.

    Returns:
        The smallest score at which the p-value is at most `level` times the share of scores that
        reach it; infinite if there is none.
    """
    tested = np.unique(score)
    bad_scores = np.sort(score[is_bad > 0])
    all_scores = np.sort(score)
    bad_above = len(bad_scores) - np.searchsorted(bad_scores, tested, side="left")
    share_above = 1 - np.searchsorted(all_scores, tested, side="left") / len(score)
    is_enough = (1 + bad_above) / (len(score) + 1) <= level * share_above
    if not is_enough.any():
        return math.inf
    return float(tested[is_enough][0])
