import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darc.engine.stopping import (
    Stopping,
    expected_gain,
    parse_stop,
    rewards_of,
    worth_another,
)
from darc.errors import InputError
from darc.types import Scores

NUMBERS = st.floats(-3, 3)
SPREADS = st.floats(0.05, 3)


@pytest.mark.parametrize("wave", [1, 2, 7])
@pytest.mark.parametrize(("best", "mean", "sd"), [(0, 0, 1), (1.5, -0.5, 0.7), (-20, 0, 1)])
def test_gain_is_what_draws_show(best: float, mean: float, sd: float, wave: int) -> None:
    draws = np.random.default_rng(0).normal(mean, sd, (200_000, wave)).max(axis=1)
    gains = np.maximum(0, draws - best)
    error = 5 * gains.std() / np.sqrt(len(gains))
    assert abs(expected_gain(best, mean, sd, wave) - gains.mean()) < error


@given(NUMBERS, NUMBERS, SPREADS, st.integers(1, 20), st.floats(0.01, 1))
def test_gain_moves_one_way(best: float, mean: float, sd: float, wave: int, more: float) -> None:
    gain = expected_gain(best, mean, sd, wave)
    assert gain >= 0
    assert expected_gain(best + more, mean, sd, wave) <= gain + 1e-9
    assert expected_gain(best, mean, sd, wave + 1) >= gain - 1e-9
    # A larger spread helps the best of a few only where the best so far is above the mean.
    if best >= mean:
        assert expected_gain(best, mean, sd + more, wave) >= gain - 1e-9
    assert expected_gain(best, mean + more, sd, wave) >= gain - 1e-9
    assert gain <= wave * expected_gain(best, mean, sd, 1) + 1e-9


def test_closed_form_for_one() -> None:
    assert expected_gain(0, 0, 1, 1) == pytest.approx(1 / np.sqrt(2 * np.pi), rel=1e-9)
    assert expected_gain(100, 0, 1, 4) == 0


def test_an_excellent_answer_ends_it_and_poor_ones_do_not() -> None:
    assert not worth_another([2.5, 2.4], 4, 0.02)
    assert worth_another([-1.0, -1.5], 4, 0.02)
    assert worth_another([30.0, 0.0, 0.0], 4, 0.0)


def test_rewards_are_on_the_scorers_scale() -> None:
    values = np.array([[[6.0], [8.0]], [[1.0], [3.0]], [[np.nan], [1.0]]])
    bounds = ((0.0, 7.0),) + ((-9.0, 9.0),) * 2
    scores = Scores(values, ("a", "b", "c"), bounds, (5.0, None, 0.0), (2.0, None, 1.0))
    assert rewards_of(scores).tolist() == [(0.5 - 1) / 2, (1.0 + 1) / 2]
    assert np.isnan(rewards_of(scores.only([2]))).all()


def test_stop_is_written_like_a_rule() -> None:
    assert parse_stop("none") is None
    assert parse_stop("pandora") == Stopping()
    assert parse_stop("pandora:cost=0.5,wave=3,least=4") == Stopping(cost=0.5, wave=3, least=4)
    assert (Stopping().wave_size(16), Stopping().wave_size(4), Stopping(wave=1).wave_size(16)) == (
        4,
        2,
        1,
    )


@pytest.mark.parametrize(
    "text",
    ["box", "pandora:price=1", "pandora:cost=-1", "pandora:cost=x", "pandora:wave=1.5",
     "pandora:least=0", "pandora:cost=nan", "pandora:cost", "none:cost=1"],
)  # fmt: skip
def test_stop_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="stop"):
        parse_stop(text)
