import numpy as np
import pytest

from darc.decide.model.components import Features
from darc.decide.statistics.summary import c4


def test_disagreement_has_no_bias_at_small_n() -> None:
    assert c4([2, 3, 9]) == pytest.approx([0.797885, 0.886227, 0.969311], abs=1e-6)
    generator = np.random.default_rng(0)
    for size in (2, 3, 6):
        found = Features(generator.normal(size=(2000, 10, size))).disagreement.mean()
        assert found == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("size", [3, 5, 9])
def test_noise_by_the_jackknife_is_the_noise_there_is(size: int) -> None:
    features = Features(np.random.default_rng(1).normal(size=(3000, 10, size)))
    link, spread = features.noise.reshape(2, -1).mean(axis=1)
    assert spread == pytest.approx(features.disagreement.var() * (size - 1), rel=0.05)
    assert abs(link) < 0.03


def test_missing_ratings_do_not_count() -> None:
    found = Features(
        np.array([[[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [2.0, np.nan, np.nan]]])
    )
    assert found.count.tolist() == [[2, 0, 1]]
    assert found.mean.tolist() == [[2.0, 0.0, 2.0]]
    assert found.sigma[0, 0] == pytest.approx(np.sqrt(2))
    assert found.sigma[0, 1:].tolist() == [0.0, 0.0]
