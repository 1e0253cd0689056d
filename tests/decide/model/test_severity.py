import numpy as np
import pytest

from darc.decide.model.severity import severity, shared_noise


@pytest.mark.parametrize("size", [2, 3, 6])
def test_severity_is_neither_too_small_nor_too_large(size: int) -> None:
    generator = np.random.default_rng(size)
    truth = generator.normal(0, 1.0, 20)
    cell = np.repeat(np.arange(4000), size)
    rater = generator.integers(0, 20, cell.size)
    ratings = (
        generator.normal(size=4000)[cell] + truth[rater] + 0.5 * generator.normal(size=cell.size)
    )
    found = severity(ratings, cell, rater, 20)
    centred = truth - truth.mean()
    assert np.polyfit(centred, found.offset, 1)[0] == pytest.approx(1.0, abs=0.06)
    unknown = severity(ratings, cell, np.full(cell.size, -1), 20)
    assert not unknown.offset.any()


@pytest.mark.parametrize(("common", "expected"), [(0.0, 1.0), (1.0, 0.5), (3.0, 0.1)])
def test_noise_that_candidates_share_does_not_blur_them(common: float, expected: float) -> None:
    generator = np.random.default_rng(2)
    noise = generator.normal(size=(300, 6, 5)) + common * generator.normal(size=(300, 1, 5))
    cell = np.broadcast_to(np.arange(1800).reshape(300, 6, 1), noise.shape).ravel()
    rater = np.broadcast_to(np.arange(5), noise.shape).ravel()
    found = shared_noise(noise.ravel(), cell, cell // 6, rater)
    assert found == pytest.approx(expected, abs=0.05)
