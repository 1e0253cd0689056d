from pathlib import Path

import pytest

from darc.analysis.experiments import EXPERIMENTS
from darc.analysis.experiments.plot import draw_findings
from darc.ratings.simulated import preset
from darc.views import save_figure

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_line_differs_without_colour(name: str, tmp_path: Path) -> None:
    result = EXPERIMENTS[name].run(preset("hacking").changed({"prompts": 12}), 0)
    figure = draw_findings(result)
    assert len(figure.axes) == len(result.charts)
    for axes, chart in zip(figure.axes, result.charts, strict=True):
        styles = {(line[0].get_marker(), line[0].get_linestyle()) for line in axes.containers}
        assert len(styles) == len(chart.curves)
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    path = tmp_path / "figure.png"
    save_figure(figure, path)
    assert path.read_bytes().startswith(b"\x89PNG")
