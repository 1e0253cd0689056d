from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.tune.helpers import noise, source_of

from darc.analysis.tune.advice import recommend
from darc.analysis.tune.plot import draw_tuned
from darc.analysis.tune.surface import surface_of
from darc.analysis.tune.tuning import Tuned, TunedRule, tune
from darc.decide.method import Method
from darc.views import save_figure


@pytest.fixture(scope="module")
def tuned() -> Tuned:
    return tune(source_of(noise(30, 0)), splits=1)


@pytest.fixture(scope="module")
def rows(tuned: Tuned) -> dict[str, TunedRule]:
    return {row.rule: row for row in tuned.rows}


def test_two_knobs_make_a_plane(rows: dict[str, TunedRule]) -> None:
    row = rows["epsilon"]
    surface = surface_of(row)
    assert surface.upwards is not None
    assert surface.gain.shape == (len(surface.upwards), len(surface.across))
    x, y = surface.place(surface.chosen) or (-1, -1)
    assert surface.gain[y, x] == surface.gain.max() == pytest.approx(row.in_sample)
    assert (surface.across[x], surface.upwards[y]) == (
        row.setting.parameters["epsilon"],
        row.setting.beta,
    )


@pytest.mark.parametrize("rule", ["entropic", "lcb", "cvar", "poisson", "soft"])
def test_one_knob_makes_a_line(rows: dict[str, TunedRule], rule: str) -> None:
    surface = surface_of(rows[rule])
    assert surface.upwards is None
    assert surface.gain.shape == surface.across.shape
    x, _ = surface.place(surface.chosen) or (-1, -1)
    assert surface.gain[x] == pytest.approx(rows[rule].in_sample)


def test_tau_shows_the_kind_chosen(rows: dict[str, TunedRule]) -> None:
    surface = surface_of(rows["tau"])
    assert surface.knob in rows["tau"].setting.parameters
    assert surface.place(rows["epsilon"].setting) is None


@pytest.mark.parametrize("rule", ["tau", "epsilon", "penalty", "lcb"])
def test_the_star_is_at_what_is_recommended(rule: str, tuned: Tuned, tmp_path: Path) -> None:
    (row,) = (row for row in tuned.rows if row.rule == rule)
    for gain in (0.5, 0.0):
        won = replace(row, gain=gain, low=gain - 0.1, high=gain + 0.1)
        advice = recommend(replace(tuned, rows=(won,)))
        assert advice.beyond_noise == (gain > 0)
        figure = draw_tuned(advice)
        save_figure(figure, tmp_path / "surface.png")
        assert (tmp_path / "surface.png").stat().st_size > 10_000
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert f"recommended: {advice.setting.text}" in labels
        assert (f"best of its rule, not recommended: {row.setting.text}" in labels) == (gain == 0)


def test_a_picture_without_knobs_has_the_gains_alone(tuned: Tuned) -> None:
    row = replace(
        tuned.rows[0], rule="auto", setting=Method.of("auto"), gain=0.1, low=-0.2, high=0.3
    )
    assert len(draw_tuned(recommend(replace(tuned, rows=(row,)))).axes) == 1
