from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tests.analysis.diagnose.panels import Array, noise_only, source, uneven

from darc.analysis.diagnose.diagnosis import diagnose
from darc.analysis.diagnose.plot import draw_diagnosis
from darc.analysis.diagnose.tables import diagnosis_tables
from darc.errors import MissingExtra
from darc.views import save_figure


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_picture_is_written(tmp_path: Path, suffix: str) -> None:
    diagnosis = diagnose(source(uneven(0)), splits=20, draws=20)
    path = tmp_path / f"picture.{suffix}"
    save_figure(draw_diagnosis([diagnosis, diagnosis]), path)
    if suffix == "png":
        assert imread(path).std() > 0.05
    else:
        assert "contentious" in path.read_text(encoding="utf-8") or path.stat().st_size > 20_000


@pytest.mark.parametrize(
    "ratings",
    [
        noise_only(0, raters=1),
        noise_only(0, raters=3),
        noise_only(0, prompts=1),
        np.full((1, 1, 1), 2.0),
        np.full((5, 3, 4), 2.0),
    ],
)
def test_thin_data_can_be_drawn_and_tabled(tmp_path: Path, ratings: Array) -> None:
    diagnosis = diagnose(source(ratings), splits=20, draws=20)
    save_figure(draw_diagnosis([diagnosis]), tmp_path / "picture.png")
    assert {frame.name for frame in diagnosis_tables(diagnosis)} >= {
        "components",
        "reliability",
        "prompts",
    }


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"\[plot\]"):
        draw_diagnosis([])
