"""What ratings of many prompts teach."""

import numpy as np
import pytest

from darc.decide.model.calibration import DEFAULT
from darc.decide.model.learning import learn


def ratings(uneven: float, prompts: int = 300, size: int = 8, seed: int = 0) -> np.ndarray:
    """Simulated ratings whose candidates' log sigma has this spread."""
    generator = np.random.default_rng(seed)
    mean = generator.normal(0, 0.5, (prompts, 6, 1))
    sigma = np.exp(generator.normal(0, uneven, mean.shape))
    return np.asarray(mean + sigma * generator.normal(size=(prompts, 6, size)))


def test_the_share_of_prompts_that_divide_people_is_learnt() -> None:
    alike = learn(ratings(0.0))
    mixed = learn(np.concatenate([ratings(0.0), ratings(0.9, seed=1)]))
    different = learn(ratings(0.9, seed=2))
    assert alike.share_different < 0.1
    assert alike.share_different < mixed.share_different
    assert different.share_different > 0.14
    assert different.spread_alike > alike.spread_alike


def test_few_pools_leave_the_share_near_its_default() -> None:
    learnt = learn(ratings(0.0, prompts=2))
    assert learnt.share_different == pytest.approx(DEFAULT.share_different, abs=0.03)


def test_heavy_tails_make_a_deviation_worth_fewer_degrees_of_freedom() -> None:
    generator = np.random.default_rng(0)
    heavy = generator.standard_t(3, (300, 6, 8))
    assert learn(heavy).sigma_df_factor < learn(ratings(0.0)).sigma_df_factor


def test_the_weight_is_not_changed_by_the_scale_of_the_ratings() -> None:
    one = learn(ratings(0.5))
    other = learn(10 * ratings(0.5))
    assert one.weight == pytest.approx(other.weight)
    assert one.share_different == pytest.approx(other.share_different)
