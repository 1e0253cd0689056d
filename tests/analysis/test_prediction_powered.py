import numpy as np
import pytest

from darc.analysis.prediction_powered import powered_mean
from darc.errors import InputError
from darc.typing import Array


def draw_world(
    generator: np.random.Generator, rated: int, more: int, correlation: float
) -> tuple[Array, Array, Array]:
    """Ratings around 3, and a biased judge with a given correlation to them."""
    quality = generator.normal(size=rated + more)
    own = generator.normal(size=rated + more)
    judge = 10 + 2 * (correlation * quality + np.sqrt(1 - correlation**2) * own)
    return 3 + quality[:rated], judge[:rated], judge[rated:]


@pytest.mark.parametrize(("rated", "correlation"), [(15, 0.8), (40, 0.8), (40, 0.0), (100, 0.95)])
def test_intervals_cover_and_a_good_judge_makes_them_narrow(rated: int, correlation: float) -> None:
    generator = np.random.default_rng(1)
    covered = 0
    saved = []
    for _ in range(1500):
        result = powered_mean(*draw_world(generator, rated, 400, correlation))
        covered += result.low <= 3 <= result.high
        saved.append(result.saved_share)
    assert 0.93 <= covered / 1500 <= 0.97
    if correlation >= 0.8:
        assert np.mean(saved) > 0.25
    else:
        assert np.mean(saved) > -0.05


def published_estimate(
    ratings: Array, judge: Array, more: Array, weight: float
) -> tuple[float, float]:
    """The estimate and the variance of the paper at a weight, written out."""
    estimate = sum(more) / len(more) * weight
    estimate += sum(r - weight * j for r, j in zip(ratings, judge, strict=True)) / len(ratings)
    left = np.var(ratings - weight * judge) / len(ratings)
    return float(estimate), float(left + weight**2 * np.var(more) / len(more))


@pytest.mark.parametrize("correlation", [0.8, 0.3, -0.5])
def test_agrees_with_the_published_formula_at_its_best_weight(correlation: float) -> None:
    # The package of the authors installs a top-level package `tests`, so it cannot be used here.
    ratings, judge, more = draw_world(np.random.default_rng(2), 200, 1000, correlation)
    ours = powered_mean(ratings, judge, more)
    weights = np.linspace(-1, 1, 4001)
    variances = [published_estimate(ratings, judge, more, weight)[1] for weight in weights]
    best = float(weights[int(np.argmin(variances))])
    estimate, variance = published_estimate(ratings, judge, more, best)
    assert ours.weight == pytest.approx(best, abs=0.03)
    assert ours.mean == pytest.approx(estimate, abs=0.005)
    assert ours.high - ours.low == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.03)


def test_without_more_judgements_people_decide_alone() -> None:
    ratings, judge, _ = draw_world(np.random.default_rng(3), 30, 10, 0.9)
    result = powered_mean(ratings, judge, np.array([]))
    assert result.mean == result.people_mean
    assert result.saved_share == 0


def test_few_prompts_are_refused() -> None:
    with pytest.raises(InputError):
        powered_mean(np.ones(5), np.ones(5), np.ones(50))
