from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.diagnose.panels import Array, noise_only, panel, source

from darc.analysis.diagnose.candidate_ratings import candidate_ratings
from darc.analysis.diagnose.variance_components import variance_components

TRUTH = {
    "prompt": 1.0,
    "candidate": 0.49,
    "name": 0.09,
    "rater": 0.25,
    "prompt x rater": 0.16,
    "name x rater": 0.04,
    "residual": 0.36,
}


def draws(seed: int, holes: float) -> Array:
    draw = np.random.default_rng(seed)
    p = 60
    k = 12
    n = 14
    shapes = [(p, 1, 1), (p, k, 1), (1, k, 1), (1, 1, n), (p, 1, n), (1, k, n), (p, k, n)]
    ratings = np.zeros((p, k, n))
    for variance, shape in zip(TRUTH.values(), shapes, strict=True):
        ratings = ratings + draw.normal(0, np.sqrt(variance), shape)
    ratings[draw.random(ratings.shape) < holes] = np.nan
    return ratings


@pytest.mark.parametrize("holes", [0.0, 0.5])
def test_known_components_are_recovered_without_bias(holes: float) -> None:
    found = [
        {part.name: part.variance for part in variance_components(panel(draws(seed, holes)))}
        for seed in range(40)
    ]
    for name, truth in TRUTH.items():
        values = np.array([one[name] for one in found])
        error = values.std(ddof=1) / np.sqrt(values.size)
        assert abs(values.mean() - truth) < 4 * error + 0.01 * truth, name
        assert abs(values.mean() - truth) < 0.25 * truth, name


def test_balanced_data_gives_the_analysis_of_variance() -> None:
    ratings = np.random.default_rng(3).normal(size=(1, 30, 5))
    ratings += np.arange(30)[None, :, None] / 10
    found = {part.name: part.variance for part in variance_components(panel(ratings))}
    table = ratings[0]
    rows = table.mean(axis=1)
    columns = table.mean(axis=0)
    rest = table - rows[:, None] - columns + table.mean()
    error = (rest**2).sum() / (29 * 4)
    assert found["residual"] == pytest.approx(error)
    assert found["candidate"] == pytest.approx(rows.var(ddof=1) - error / 5)
    assert found["rater"] == pytest.approx(columns.var(ddof=1) - error / 30)


def test_shares_add_up_and_follow_no_scale() -> None:
    ratings = noise_only(0, holes=0.3)
    one = variance_components(panel(ratings))
    other = variance_components(panel(100 - 7 * ratings))
    assert sum(part.share for part in one) == pytest.approx(1)
    for left, right in zip(one, other, strict=True):
        assert right.share == pytest.approx(left.share)
        assert right.variance == pytest.approx(49 * left.variance)


def test_what_the_design_cannot_tell_is_not_told() -> None:
    found = {part.name: part for part in variance_components(panel(noise_only(1, prompts=1)))}
    assert np.isnan(found["prompt"].variance)
    assert np.isnan(found["prompt x rater"].variance)
    assert found["residual"].variance > 0


def test_one_rating_each_leaves_one_residual() -> None:
    found = variance_components(panel(noise_only(1, candidates=1, raters=1)))
    known = [part for part in found if not np.isnan(part.variance)]
    assert [part.name for part in known] == ["residual"]
    assert known[0].share == 1


def test_constant_ratings_have_no_shares() -> None:
    assert all(np.isnan(part.share) for part in variance_components(panel(np.full((4, 3, 2), 5.0))))


def test_systems_stand_in_for_the_names_of_candidates() -> None:
    ratings = draws(0, 0.0)
    named = {part.name: part.variance for part in variance_components(panel(ratings))}
    prompts, candidates, _ = ratings.shape
    unique = [[f"p{p}-{k}" for k in range(candidates)] for p in range(prompts)]
    systems = [[f"s{k}" for k in range(candidates)]] * prompts
    apart = replace(source(ratings), candidate_ids=unique)
    assert "name" not in {part.name for part in variance_components(candidate_ratings(apart))}
    known = candidate_ratings(replace(apart, systems=systems))
    found = {part.name: part.variance for part in variance_components(known)}
    assert found == pytest.approx(named)
