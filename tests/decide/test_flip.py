import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import fast_settings

import darc
from darc.errors import InputError


@pytest.mark.slow
@fast_settings
@given(st.integers(0, 10_000), st.sampled_from(["mean", "entropic", "epsilon", "penalty", "cvar"]))
def test_flip_is_where_the_choice_changes(seed: int, rule: str) -> None:
    scores = np.random.default_rng(seed).integers(0, 11, size=(4, 3)).astype(float)
    decision = darc.select(scores, rule)
    flip = decision.flip(bounds=(0, 10))
    if flip is None:
        return
    changed = scores.copy()
    changed[flip.candidate, flip.sample] = flip.after
    assert darc.select(changed, rule).index == flip.winner != decision.index
    assert 0 <= flip.after <= 10
    size = abs(flip.after - flip.before)
    # No smaller change of any sample, on a grid, changes the choice.
    for place in np.ndindex(scores.shape):
        for change in np.linspace(-0.99, 0.99, 9) * size:
            tried = scores.copy()
            tried[place] = np.clip(tried[place] + change, 0, 10)
            if abs(change) < size * 0.97:
                assert darc.select(tried, rule).index == decision.index


def test_flip_may_not_exist() -> None:
    assert darc.select([[5.0, 5.0]], "mean").flip() is None
    assert darc.select([[9.0] * 9, [0.0] * 9], "mean").flip(bounds=(0, 9)) is None


def test_flip_needs_all_samples() -> None:
    lazy = darc.select_lazily(lambda pairs: [float(k) for k, _ in pairs], 4, 9, "entropic")
    with pytest.raises(InputError, match="never seen"):
        lazy.flip()
