import numpy as np
import pytest

from darc.views.dot_layout import axis_ticks, stack_dots


@pytest.mark.parametrize("seed", range(4))
def test_no_dot_covers_another(seed: int) -> None:
    places = np.sort(np.random.default_rng(seed).uniform(0, 300, 60)).tolist()
    across, levels = stack_dots(places, 9.0, 6)
    assert across == places
    for i in range(60):
        for j in range(i):
            assert levels[i] != levels[j] or abs(across[i] - across[j]) >= 9.0 * 0.999


def test_tall_piles_become_wider_where_there_is_room() -> None:
    across, levels = stack_dots([0.0] * 18 + [80.0], 9.0, 6)
    assert max(levels) == 5
    assert len(set(zip(across, levels, strict=True))) == 19
    assert np.mean(across[:18]) == pytest.approx(0.0)
    close, tall = stack_dots([0.0] * 18 + [9.0], 9.0, 6)
    assert max(tall) == 17
    assert close[0] == 0.0


@pytest.mark.parametrize(
    ("ends", "ticks"),
    [
        ((0, 10), [0, 2, 4, 6, 8, 10]),
        ((1, 5), [1, 2, 3, 4, 5]),
        ((0, 100), [0, 20, 40, 60, 80, 100]),
        ((-1, 1), [-1, -0.5, 0, 0.5, 1]),
        ((0.263, 0.32), [0.27, 0.28, 0.29, 0.3, 0.31, 0.32]),
    ],
)
def test_ticks_are_round_numbers(ends: tuple[float, float], ticks: list[float]) -> None:
    assert axis_ticks(*ends) == pytest.approx(ticks)
