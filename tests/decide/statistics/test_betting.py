import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from darc.decide.statistics.betting import betting_bound
from darc.decide.statistics.bounds import lower_confidence_bound
from darc.errors import InputError

SPEC = Path(os.environ.get("DARC_SPEC", "no folder is named by DARC_SPEC"))


@pytest.mark.parametrize("size", [1, 3, 9, 50])
def test_the_bound_is_the_smallest_mean_that_the_reference_does_not_reject(size: int) -> None:
    path = SPEC / "reference_conformal.py"
    if not path.exists():
        pytest.skip("DARC_SPEC names no folder with reference_conformal.py")
    spec = importlib.util.spec_from_file_location("reference_conformal", path)
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    samples = np.random.default_rng(size).integers(1, 6, size).astype(float)
    bound = float(betting_bound(samples, candidates=4, bounds=(1, 5), delta=0.1))
    order = np.random.default_rng(0).permutation(size)
    losses = 1 - (samples - 1) / 4

    def p_value(mean: float) -> float:
        return float(reference.betting(losses, 1 - (mean - 1) / 4, order))

    assert p_value(bound + 1e-6) > 0.1 / 4
    if bound > 1:
        assert p_value(bound - 1e-6) <= 0.1 / 4


@pytest.mark.parametrize("size", [5, 20, 100])
def test_it_holds_for_the_best_of_equal_candidates(size: int) -> None:
    ratings = np.random.default_rng(size).binomial(10, 0.7, (1000, 8, size)).astype(float)
    best = ratings.mean(axis=2).argmax(axis=1)
    bounds = betting_bound(ratings[np.arange(1000), best], candidates=8, bounds=(0, 10))
    assert (bounds <= 7).mean() >= 0.95


@pytest.mark.parametrize(("size", "share"), [(20, 2 / 3), (50, 0.5), (200, 0.35)])
def test_it_is_tighter_than_the_bounds_from_statistics(size: int, share: float) -> None:
    ratings = np.random.default_rng(size).binomial(10, 0.7, (200, size)).astype(float)
    slack = 7 - betting_bound(ratings, candidates=8, bounds=(0, 10)).mean()
    sigma = ratings.std(axis=1, ddof=1)
    older = lower_confidence_bound(ratings.mean(axis=1), sigma, size, candidates=8, bounds=(0, 10))
    assert slack <= share * (7 - older.mean())


def test_missing_samples_do_not_count() -> None:
    samples = [[4.0, np.nan, 5.0, 3.0, np.nan], [4.0, 5.0, 3.0, np.nan, np.nan]]
    bounds = betting_bound(samples, candidates=1, bounds=(0, 5), delta=0.3)
    alone = betting_bound([4.0, 5.0, 3.0], candidates=1, bounds=(0, 5), delta=0.3)
    assert bounds == pytest.approx([float(alone)] * 2)
    assert alone > 0
    assert betting_bound([np.nan], candidates=1, bounds=(2, 5)) == 2


def test_bad_input() -> None:
    with pytest.raises(InputError, match="outside the bounds"):
        betting_bound([6.0], candidates=1, bounds=(0, 5))
    with pytest.raises(InputError, match="candidates"):
        betting_bound([3.0], candidates=0, bounds=(0, 5))
