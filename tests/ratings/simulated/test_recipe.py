import numpy as np
import pytest

from darc.errors import InputError, UnknownName
from darc.ratings.simulated import PRESETS, preset, simulate


def test_settings_are_changed_by_name() -> None:
    given = {"prompts": 7.0, "gap": 2, "proxy.scorers": 4, "groups": (0.5, 0.5)}
    changed = preset("paper").changed(given)
    assert changed.people.prompts == 7
    assert isinstance(changed.people.prompts, int)
    assert changed.people.gap == 2.0
    assert changed.proxy.scorers == 4
    assert changed.people.groups == (0.5, 0.5)
    assert preset("paper").people.prompts == 500


@pytest.mark.parametrize(
    "settings", [{"prompts": 1.5}, {"gap": "wide"}, {"groups": 1.0}, {"gap": True}, {"df": None}]
)
def test_values_that_do_not_fit_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError, match="cannot be"):
        preset("paper").changed(settings)


def test_unknown_names() -> None:
    with pytest.raises(UnknownName, match="'paper'"):
        preset("papr")
    with pytest.raises(UnknownName, match="'polarising'"):
        preset("paper").changed({"polarizing": 1})


def test_noise_has_no_true_differences_of_sigma() -> None:
    noise, paper = (simulate(PRESETS[name].people, 0).truth.sigma for name in ("noise", "paper"))
    assert noise.max() < 1.01 * noise.min()
    assert np.quantile(paper, 0.95) > 2.5 * np.quantile(paper, 0.25)


def test_panel_is_eight_people_of_two_groups() -> None:
    people = simulate(PRESETS["panel"].people, 0)
    assert people.ratings.shape[2] == 8
    assert np.bincount(people.group).tolist() == [5, 3]
    assert set(np.unique(people.ratings)) <= {1.0, 2.0, 3.0, 4.0, 5.0}
