from pathlib import Path

import pytest
from tests.evaluation.tuning.helpers import noise, source_of

from darc.evaluation.tuning.surface import surface_of
from darc.evaluation.tuning.surface_plot import draw_surface
from darc.evaluation.tuning.tune import Row, tune
from darc.views import save_figure


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    found = tune(source_of(noise(30, 0)), repeats=1)
    return {row.rule: row for row in found.rows}


def test_two_knobs_make_a_plane(rows: dict[str, Row]) -> None:
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
def test_one_knob_makes_a_line(rows: dict[str, Row], rule: str) -> None:
    surface = surface_of(rows[rule])
    assert surface.upwards is None
    assert surface.gain.shape == surface.across.shape
    x, _ = surface.place(surface.chosen) or (-1, -1)
    assert surface.gain[x] == pytest.approx(rows[rule].in_sample)


def test_tau_shows_the_kind_chosen(rows: dict[str, Row]) -> None:
    surface = surface_of(rows["tau"])
    assert surface.knob in rows["tau"].setting.parameters
    assert surface.place(rows["epsilon"].setting) is None


@pytest.mark.parametrize("rule", ["tau", "epsilon", "penalty", "lcb"])
def test_pictures(rows: dict[str, Row], rule: str, tmp_path: Path) -> None:
    figure = draw_surface(surface_of(rows[rule]), "a title", "mean - 2 sigma")
    save_figure(figure, tmp_path / "surface.png")
    assert (tmp_path / "surface.png").stat().st_size > 10_000
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any(label.startswith("chosen: ") for label in labels)
    assert any("Best-of-K" in label for label in labels)
