import numpy as np
import pytest
from tests.analysis.diagnose.panels import noise_only, panel

from darc.analysis.diagnose.given_groups import compare_groups

GROUPS = {f"r{j}": "cooks" if j < 5 else "guests" for j in range(10)}
SIDE = np.where(np.arange(10) < 5, 1.0, -1.0)


def test_groups_of_noise_do_not_differ() -> None:
    found = [
        compare_groups(panel(noise_only(seed, 15, 5, 10), GROUPS), permutations=99)
        for seed in range(40)
    ]
    for name in ("taste_p", "severity_p"):
        values = np.array([getattr(one, name) for one in found])
        assert 0.3 < values.mean() < 0.7
        assert (values <= 0.05).mean() <= 0.15


def test_taste_is_found_where_it_is() -> None:
    ratings = noise_only(1, 20, 5, 10)
    ratings[7, 3] += 4 * SIDE
    ratings[:, 0] += SIDE
    ratings[:, 1] -= SIDE
    found = compare_groups(panel(ratings, GROUPS))
    assert found is not None
    assert found.sizes == {"cooks": 5, "guests": 5}
    assert found.taste_p <= 2.5 * found.smallest_p
    assert found.share > found.chance
    widest = found.contrasts[0]
    assert (widest.prompt, widest.candidate) == ("p7", "c3")
    assert widest.means["cooks"] - widest.means["guests"] == pytest.approx(8, abs=2)


def test_severity_is_not_taste() -> None:
    found = compare_groups(panel(noise_only(2, 20, 5, 10) + SIDE, GROUPS))
    assert found is not None
    assert found.severity_p < 0.05 < found.taste_p


def test_raters_without_a_group_are_left_out() -> None:
    some = {name: group for name, group in GROUPS.items() if name not in ("r0", "r9")}
    ratings = noise_only(3, 10, 4, 10, holes=0.4)
    whole = compare_groups(panel(ratings, some))
    part = compare_groups(
        panel(
            ratings[..., 1:9], {f"r{j - 1}": g for j, g in enumerate(GROUPS.values()) if 0 < j < 9}
        )
    )
    assert whole is not None
    assert part is not None
    assert whole.sizes == {"cooks": 4, "guests": 4}
    assert whole.share == pytest.approx(part.share)


def test_one_group_is_no_comparison() -> None:
    assert compare_groups(panel(noise_only(0), {f"r{j}": "all" for j in range(6)})) is None
    assert compare_groups(panel(noise_only(0))) is None
