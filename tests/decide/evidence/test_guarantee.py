import math

import numpy as np
import pytest
from tests.decide.evidence.reference import load_reference

from darc.decide.evidence import guarantee
from darc.errors import InputError


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("binary", [True, False])
def test_thresholds_agree_with_the_reference(seed: int, binary: bool) -> None:
    reference = load_reference("reference_conformal")
    generator = np.random.default_rng(seed)
    score = np.round(generator.normal(size=400), 1)
    risk = 1 / (1 + np.exp(2 * score + 3))
    loss = risk
    if binary:
        loss = (generator.random(400) < risk).astype(float)
    new = generator.normal(size=50)
    assert guarantee.shown_threshold(score, loss, 0.1) == reference.shown_threshold(
        score, loss, 0.1
    )
    assert guarantee.overall_threshold(score, loss, 0.1) == reference.overall_threshold(
        score, loss, 0.1
    )
    is_bad = (loss > 0.5).astype(float)
    is_shown = guarantee.shown_in_batch(score, is_bad, new, 0.1)
    assert is_shown.tolist() == reference.shown_batch(score, is_bad, new, 0.1).tolist()
    assert guarantee.least_held_share(loss, 0.1) == reference.feasible(loss, 0.1)


def test_the_promise_shown_holds_in_most_calibrations() -> None:
    generator = np.random.default_rng(0)
    exceeded = 0
    for _ in range(300):
        score = generator.normal(size=300)
        risk = 0.3 / (1 + np.exp(3 * score))
        loss = (generator.random(300) < risk).astype(float)
        threshold = guarantee.shown_threshold(score, loss, 0.1)
        if threshold < math.inf:
            new = generator.normal(size=20_000)
            new_risk = 0.3 / (1 + np.exp(3 * new))
            exceeded += bool(new_risk[new >= threshold].mean() > 0.1)
    assert exceeded <= 0.05 * 300


def test_a_level_outside_0_and_1_is_refused() -> None:
    with pytest.raises(InputError):
        guarantee.overall_threshold(np.zeros(3), np.zeros(3), 1.5)
