"""How far raters agree with themselves where they graded the same answer more than once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from darc.analysis.panel_audit.estimate import Estimate, bootstrap_estimate, unknown
from darc.analysis.panel_audit.products import one_and_draws
from darc.decide.statistics.arrays import stacked
from darc.ratings.ratings import Ratings
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.typing import Array


@dataclass(frozen=True)
class RepeatAgreement:
    """How far one rater agrees with itself."""

    #: The rater, or "all raters".
    rater: str
    #: The share of the variance of one grade within prompts that returns when asked again.
    reliability: Estimate
    #: The standard deviation of one rater's repeats.
    noise: float


def repeats_of(path: Path, ratings: Ratings, seed: int = 0) -> list[RepeatAgreement]:
    """The agreement on repeats of a run folder or a file of grades; empty without repeats.

    Args:
        path: Where the grades are.
        ratings: The same grades as they were read.
        seed: The seed of the resamples.
    """
    if path.is_dir():
        grades = _grades_of_run(path)
        if grades is not None:
            return repeat_agreements(grades, ratings.rater_names, seed)
    repeats = ratings.repeats
    if repeats is None or repeats.are_copies:
        return []
    noise = float(np.nanmean(repeats.noise_variance))
    reason = "the file's repeats are averaged when it is read; only their noise is known"
    return [RepeatAgreement("all raters", unknown(reason), float(np.sqrt(noise)))]


def repeat_agreements(grades: Array, raters: Sequence[str], seed: int = 0) -> list[RepeatAgreement]:
    """The agreement of each rater with itself.

    Args:
        grades: (P, K, raters, repeats), NaN where there is none.
        raters: The names of the raters.
        seed: The seed of the resamples.
    """
    weights = one_and_draws(len(grades), seed)
    return [_agreement(name, grades[:, :, place], weights) for place, name in enumerate(raters)]


def _agreement(rater: str, grades: Array, weights: Array) -> RepeatAgreement:
    """The agreement of one rater, whose grades are (P, K, repeats)."""
    repeats = grades.shape[2]
    complete = np.asarray(~np.isnan(grades).any(axis=2))
    values = np.where(complete[..., None], grades, 0.0)
    mean = values.mean(axis=2)
    count = complete.sum(axis=1)
    within = np.where(complete[..., None], (values - mean[..., None]) ** 2, 0.0).sum(axis=(1, 2))
    within_df = count * (repeats - 1)
    centre = mean.sum(axis=1, keepdims=True) / np.maximum(count, 1)[:, None]
    between = np.where(complete, (mean - centre) ** 2, 0.0).sum(axis=1)
    between_df = np.maximum(count - 1, 0)
    noise = (weights @ within) / np.maximum(weights @ within_df, 1)
    observed = (weights @ between) / np.maximum(weights @ between_df, 1)
    true_variance = observed - noise / repeats
    total = true_variance + noise
    known = total > 0
    reliability = np.where(known, true_variance / np.where(known, total, 1.0), np.nan)
    estimate = bootstrap_estimate(float(reliability[0]), reliability[1:], int((count > 1).sum()))
    return RepeatAgreement(rater, estimate, float(np.sqrt(noise[0])))


def _grades_of_run(path: Path) -> Array | None:
    """The single grades of a run, (P, K, raters, repeats); None if raters were asked once."""
    grades = []
    folder = RunFolder(path)
    for shard in folder.shards():
        for prompt_id in shard.rows("decisions.jsonl"):
            scores = records.read_scores(shard, prompt_id)
            if scores.grades is None or scores.repeats < 2:
                return None
            grades.append(scores.grades.mean(axis=0))
    return np.asarray(stacked(grades))
