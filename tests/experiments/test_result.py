from dataclasses import replace
from pathlib import Path

import pytest

from darc.errors import InputError
from darc.experiments import EXPERIMENTS, experiment
from darc.experiments.result import draw_result
from darc.simulate import preset
from darc.views import save_figure

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", ["disagreement", "coverage", "buckets", "raters", "hacking"])
def test_every_line_differs_without_colour(name: str, tmp_path: Path) -> None:
    result = experiment(name)(preset("hacking").changed({"prompts": 12}), 0)
    figure = draw_result(result)
    assert len(figure.axes) == len(result.panels)
    for axes, panel in zip(figure.axes, result.panels, strict=True):
        styles = {(line[0].get_marker(), line[0].get_linestyle()) for line in axes.containers}
        assert len(styles) == len(panel.lines)
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    path = tmp_path / "figure.png"
    save_figure(figure, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_table_alone_has_no_picture() -> None:
    result = EXPERIMENTS["disagreement"](preset("paper").changed({"prompts": 12}), 0)
    with pytest.raises(InputError, match="no picture"):
        draw_result(replace(result, panels=()))


def test_unknown_experiment() -> None:
    with pytest.raises(InputError, match="'hacking'"):
        experiment("hackin")
