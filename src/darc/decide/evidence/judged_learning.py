"""Learning from people's ratings and cheap judgements of the same answers together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from darc.decide.evidence.prediction import learn_prediction
from darc.decide.evidence.worth import worth_in_raters
from darc.decide.ids import Ids
from darc.decide.model.calibration import Calibration
from darc.decide.model.intervals import with_intervals
from darc.decide.model.judge_weights import JudgeWeights
from darc.decide.model.learning import learn
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class JudgedLearning:
    """What ratings and judgements teach together."""

    #: What is learnt from the ratings, less what the judgements predict of them; with the judges'
    #: weights, unless there were too few prompts.
    calibration: Calibration
    #: What the judgements predict of each candidate, learnt from other prompts, (P, K); 0 where
    #: there were too few prompts.
    predicted: Array


def learn_with_judges(
    ratings: Array,
    judgements: Mapping[str, Array],
    raters: Ids | None = None,
    systems: Ids | None = None,
    lam: float = 2.0,
    *,
    intervals: bool = False,
) -> JudgedLearning:
    """Learn how far judgements may be believed, and what the rule `auto` goes by beside them.

    Args:
        ratings: People's ratings, (P, K, n), NaN where there is none.
        judgements: Numbers about every candidate, (P, K), by name; NaN where not known.
        raters: Who gave each rating.
        systems: What wrote each candidate.
        lam: What a unit of sigma is worth in units of mean.
        intervals: Whether the calibration gets its intervals, which takes longer.
    """
    plain = learn(ratings, raters, systems, lam)
    without_severity = ratings
    codes = None
    if raters is not None and raters.names:
        # The last offset is that of an unknown rater.
        offsets = np.array([*(plain.raters.get(name, 0.0) for name in raters.names), 0.0])
        without_severity = ratings - offsets[raters.codes]
        codes = raters.codes
    prediction = None
    if judgements:
        block = np.stack(list(judgements.values()), axis=-1)
        prediction = learn_prediction(without_severity, [block], codes, plain.shared)
    if prediction is None:
        if intervals:
            plain = with_intervals(plain, ratings, raters, systems)
        return JudgedLearning(plain, np.zeros(ratings.shape[:2]))
    left = ratings - prediction.values[..., None]
    calibration = learn(left, raters, systems, lam)
    if intervals:
        calibration = with_intervals(calibration, left, raters, systems)
    worth = worth_in_raters(without_severity, prediction.values, plain.shared)
    worth_interval = None
    if worth is not None:
        worth_interval = (worth.estimate, worth.low, worth.high)
    coefficients = prediction.trust * prediction.coefficients[0]
    judges = JudgeWeights(
        weights=dict(zip(judgements, coefficients.tolist(), strict=True)),
        trust=prediction.trust,
        ratio=prediction.ratio,
        worth=worth_interval,
    )
    return JudgedLearning(replace(calibration, judges=judges), prediction.values)
