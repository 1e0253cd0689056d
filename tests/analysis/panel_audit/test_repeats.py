import numpy as np
import pytest

from darc.analysis.panel_audit.repeats import repeat_agreements


def test_reliability_is_the_share_that_returns() -> None:
    generator = np.random.default_rng(0)
    truth = generator.normal(size=(200, 5, 2, 1)) + generator.normal(0, 3, (200, 1, 1, 1))
    noise = np.array([0.5, 1.0])[:, None] * generator.normal(size=(200, 5, 2, 3))
    first, second = repeat_agreements(truth + noise, ["steady", "noisy"])
    assert first.reliability.low <= 1 / 1.25 <= first.reliability.high
    assert second.reliability.low <= 1 / 2 <= second.reliability.high
    assert first.noise == pytest.approx(0.5, rel=0.05)
    assert second.noise == pytest.approx(1.0, rel=0.05)
