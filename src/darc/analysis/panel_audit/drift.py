"""Whether raters grade otherwise than they did in an earlier run or calibration."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from darc.analysis.panel_audit.estimate import LEVEL, Estimate, mean_estimate
from darc.analysis.panel_audit.grades import RaterGrades, mean_over
from darc.analysis.panel_audit.within_prompt_correlations import correlation_change
from darc.decide.ids import Ids
from darc.decide.model.calibration import Calibration
from darc.decide.model.intervals import with_intervals
from darc.decide.model.learning import learn
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.typing import Array

# Fewer answers than this in both runs say nothing; levels are compared instead.
_FEWEST_SHARED_PROMPTS = 10


@dataclass(frozen=True)
class RaterDrift:
    """How far one rater has moved."""

    rater: str
    #: How much higher it grades now; the interval holds for all raters together.
    change: Estimate
    #: Whether the interval excludes 0.
    has_moved: bool


@dataclass(frozen=True)
class Drift:
    """How far a panel has moved since an earlier run or calibration."""

    #: What it is compared with.
    against: str
    #: How it is compared.
    basis: str
    raters: tuple[RaterDrift, ...]
    #: How much more the panel's mean goes with people's means, where both runs graded the same
    #: answers and people rated them; None otherwise.
    agreement: Estimate | None = None

    @property
    def moved(self) -> list[str]:
        """The raters whose change is beyond chance."""
        return [rater.rater for rater in self.raters if rater.has_moved]

    @property
    def sentence(self) -> str:
        """Who has moved, in words."""
        if not self.moved:
            return f"no rater has moved beyond chance since {self.against}"
        verb = "has" if len(self.moved) == 1 else "have"
        return f"{', '.join(self.moved)} {verb} moved beyond chance since {self.against}"


def drift_against_run(
    now: RaterGrades, then: RaterGrades, people: RaterGrades | None = None, seed: int = 0
) -> Drift:
    """Compare a panel with an earlier run, on the same answers where there are enough of them.

    Args:
        now: The grades of the panel.
        then: Those of the earlier run.
        people: People's ratings of answers, for how far agreement with them has changed.
        seed: The seed of the resamples.

    Raises:
        InputError: They have no rater in common.
    """
    raters = [name for name in now.raters if name in then.raters]
    if not raters:
        raise InputError(
            f"{now.name} and {then.name} have no rater in common",
            f"the raters are {', '.join(now.raters)}, and {', '.join(then.raters)}",
        )
    level = 1 - (1 - LEVEL) / len(raters)
    earlier = _aligned(then, now)
    shared = ~np.isnan(now.values).all(axis=2) & ~np.isnan(earlier).all(axis=2)
    changes = []
    if int(np.any(shared, axis=1).sum()) >= _FEWEST_SHARED_PROMPTS:
        basis = "the change of the grades of the same answers, by prompt"
        for name in raters:
            before = earlier[:, :, then.raters.index(name)]
            difference = now.only(now.raters.index(name)) - before
            changes.append(mean_estimate(mean_over(difference), level))
    else:
        basis = (
            "the change of the mean grade between different prompts, as if both were drawn alike"
        )
        for name in raters:
            current = mean_over(now.only(now.raters.index(name)))
            earlier_means = mean_over(then.only(then.raters.index(name)))
            changes.append(_difference_of_means(current, earlier_means, level))
    agreement = None
    if people is not None:
        agreement = correlation_change(
            now.mean, mean_over(earlier), mean_over(_aligned(people, now)), seed
        )
    return Drift(then.name, basis, _rater_drifts(raters, changes), agreement)


def drift_against_calibration(now: Ratings, then: Calibration, name: str) -> Drift:
    """Compare the severities of a panel's raters with those that a calibration learnt.

    Raises:
        InputError: The calibration knows none of the raters.
    """
    samples = now.samples[:, 0]
    ids = Ids(now.raters[:, 0], tuple(now.rater_names))
    calibration = with_intervals(learn(samples, ids), samples, ids, None)
    raters = [
        rater for rater in now.rater_names if rater in calibration.raters and rater in then.raters
    ]
    if not raters:
        raise InputError(
            f"the calibration {name} knows none of the raters of {now.name}",
            "make it with darc calibrate from an earlier run of the same panel",
        )
    # Severities are against the other raters, so those that are not in both are left aside.
    offset_now = float(np.mean([calibration.raters[rater] for rater in raters]))
    offset_then = float(np.mean([then.raters[rater] for rater in raters]))
    level = 1 - (1 - LEVEL) / len(raters)
    changes = []
    for rater in raters:
        change = calibration.raters[rater] - offset_now - (then.raters[rater] - offset_then)
        errors = (calibration.rater_errors.get(rater), then.rater_errors.get(rater))
        changes.append(_normal_estimate(change, errors, level))
    basis = (
        "the change of each rater's severity against the other raters; a change of the whole panel "
        "cannot be seen"
    )
    return Drift(name, basis, _rater_drifts(raters, changes))


def _rater_drifts(raters: list[str], changes: list[Estimate]) -> tuple[RaterDrift, ...]:
    drifts = []
    for rater, change in zip(raters, changes, strict=True):
        has_moved = change.has_interval and not change.low <= 0 <= change.high
        drifts.append(RaterDrift(rater, change, has_moved))
    return tuple(drifts)


def _aligned(other: RaterGrades, now: RaterGrades) -> Array:
    """The grades of others in the order of these prompts and candidates, (P, K, R)."""
    prompts, candidates, _ = now.values.shape
    aligned = np.full((prompts, candidates, len(other.raters)), np.nan)
    places = {
        (prompt_id, candidate_id): (row, column)
        for row, prompt_id in enumerate(other.prompt_ids)
        for column, candidate_id in enumerate(other.candidate_ids[row])
    }
    for row, prompt_id in enumerate(now.prompt_ids):
        for column, candidate_id in enumerate(now.candidate_ids[row]):
            place = places.get((prompt_id, candidate_id))
            if place is not None:
                aligned[row, column] = other.values[place]
    return aligned


def _difference_of_means(now: Array, then: Array, level: float) -> Estimate:
    """The difference of two means of different prompts, by Welch's interval."""
    now = now[~np.isnan(now)]
    then = then[~np.isnan(then)]
    change = float(now.mean() - then.mean())
    if min(len(now), len(then)) < 2:
        return Estimate(change, reason="fewer than 2 prompts")
    variances = (float(now.var(ddof=1)) / len(now), float(then.var(ddof=1)) / len(then))
    error = math.sqrt(sum(variances))
    if error == 0:
        return Estimate(change, change, change)
    shares = variances[0] ** 2 / (len(now) - 1) + variances[1] ** 2 / (len(then) - 1)
    df = sum(variances) ** 2 / shares
    reach = float(stats.t.ppf((1 + level) / 2, df)) * error
    return Estimate(change, change - reach, change + reach)


def _normal_estimate(
    change: float, errors: tuple[float | None, float | None], level: float
) -> Estimate:
    """An estimate by the standard errors of two sides."""
    now, then = errors
    if now is None or then is None:
        return Estimate(change, reason="the calibration has no standard errors of severities")
    reach = float(stats.norm.ppf((1 + level) / 2)) * math.hypot(now, then)
    return Estimate(change, change - reach, change + reach)
