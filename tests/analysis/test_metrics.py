from math import log, sqrt

import numpy as np
import pytest

from darc.analysis.metrics import (
    aggregate,
    group_scores,
    high_subset,
    lower_bound,
    matched_lambda,
    outcome_signs,
    pairwise_scores,
    pooled_units,
    values_at,
)
from darc.ratings.splitting import NOBODY

GENERATOR = np.random.default_rng(11)


def test_moments_are_numpys() -> None:
    samples = GENERATOR.normal(size=(3, 1, 4, 5))
    samples[0, 0, 0, 3:] = np.nan
    found = aggregate(samples)
    assert np.allclose(found.mean, np.nanmean(samples[:, 0], axis=2))
    assert np.allclose(found.sigma, np.nanstd(samples[:, 0], axis=2, ddof=1))
    assert found.count[0, 0] == 3


def test_one_scorer_stays_on_its_scale_and_several_are_normalised() -> None:
    samples = GENERATOR.normal(100.0, 7.0, size=(3, 1, 4, 5))
    assert np.allclose(aggregate(samples).mean, samples[:, 0].mean(axis=2))
    both = np.concatenate([samples, 1000 * GENERATOR.normal(size=samples.shape)], axis=1)
    scaled = np.empty_like(both)
    for m in range(2):
        part = both[:, m]
        scaled[:, m] = (part - part.mean()) / part.std(ddof=1)
    assert np.allclose(aggregate(both).mean, scaled.mean(axis=3).mean(axis=1))
    assert np.allclose(aggregate(both).sigma, scaled.std(axis=3, ddof=1).max(axis=1))


def test_a_constant_scorer_has_scale_one() -> None:
    samples = np.full((2, 1, 3, 4), 7.0)
    location, scale = pooled_units(samples)
    assert location.tolist() == [7.0]
    assert scale.tolist() == [1.0]


def test_taken_gives_nan_for_no_choice() -> None:
    values = np.arange(6.0).reshape(2, 3)
    found = values_at(values, np.array([[2, 0], [-1, 1]]))
    assert found[0].tolist() == [2.0, 3.0]
    assert np.isnan(found[1, 0])
    assert found[1, 1] == 4.0


def test_lower_bound_by_hand() -> None:
    samples = np.array([3.0, 5.0, 6.0, 3.0, 6.0])
    found = lower_bound(aggregate(samples.reshape(1, 1, 1, 5)), np.array([16.0]), 0.05)
    expected = 4.6 - samples.std(ddof=1) * sqrt(log(16 / 0.05) / 5)
    assert found[0, 0] == pytest.approx(expected)


def test_signs() -> None:
    delta = np.array([0.6, 0.5, 1e-15, 0.0, -0.2, np.nan])
    assert outcome_signs(delta)[:5].tolist() == [1, 1, 0, 0, -1]
    assert np.isnan(outcome_signs(delta)[5])


def test_a_difference_of_the_threshold_is_no_tie() -> None:
    delta = np.array([0.6, 0.5, 0.8 - 0.3, 0.49, 0.0, -0.49, -0.5])
    assert outcome_signs(delta, 0.5).tolist() == [1, 1, 1, 0, 0, 0, -1]


def test_high_subset_counts_up_and_breaks_ties_by_id() -> None:
    values = np.array([1.0, 5.0, 5.0, 5.0, np.nan, 9.0])
    kept = np.array([True, True, True, True, True, False])
    found = high_subset(values, kept, ["a", "z", "c", "d", "e", "f"], 0.4)
    assert np.flatnonzero(found).tolist() == [2, 3]
    assert not high_subset(np.full(6, np.nan), kept, list("abcdef")).any()


def test_lambda_matches_the_medians() -> None:
    mean, sigma = GENERATOR.normal(size=(2, 50))
    sigma = np.abs(sigma)
    lam = matched_lambda(mean, sigma)
    assert np.median(np.abs(mean)) == pytest.approx(lam * np.median(sigma))
    assert np.isnan(matched_lambda(mean, np.zeros(50)))


def test_pairwise_scores_by_loops() -> None:
    judge = GENERATOR.integers(1, 4, (4, 2, 3, 5)).astype(float)
    raters = np.stack([GENERATOR.permutation(5) for _ in range(24)]).reshape(4, 2, 3, 5)
    raters[0, 0, 1, 2:] = NOBODY
    judge[0, 0, 1, 2:] = np.nan
    index = np.array([[1, 2, 0, -1], [0, 0, 1, 1]])
    base = np.array([0, 0, 1, 1])
    found = pairwise_scores(judge, raters, index, base)
    for a in range(2):
        for p in range(4):
            if index[a, p] < 0:
                assert np.isnan(found[a, p])
                continue
            each = []
            for m in range(2):
                ours = dict(zip(raters[p, m, index[a, p]], judge[p, m, index[a, p]], strict=True))
                theirs = dict(zip(raters[p, m, base[p]], judge[p, m, base[p]], strict=True))
                games = [
                    1.0 if ours[g] > theirs[g] else 0.5 if ours[g] == theirs[g] else 0.0
                    for g in ours.keys() & theirs.keys() - {NOBODY}
                ]
                each.append(np.mean(games) - 0.5)
            assert found[a, p] == pytest.approx(np.mean(each))


def test_choices_are_judged_by_each_group() -> None:
    judge = np.array([[[[1.0, 3.0, 9.0], [5.0, np.nan, 7.0]]]])
    groups = np.array([[[[0, 0, 1], [0, 0, -1]]]])
    scores = group_scores(judge, groups, 2, np.array([[0], [1], [-1]]))
    assert scores[0, :, 0].tolist() == [2.0, 9.0]
    assert scores[1, 0, 0] == 5.0
    assert np.isnan(scores[1, 1, 0])
    assert np.isnan(scores[2]).all()
