from pathlib import Path

import numpy as np
import pytest

from darc.train.curves import draw_curves
from darc.views import save_figure

HISTORY = [
    {"step": 1, "loss": 0.7, "rewards/margins": 0.0},
    {"step": 1, "eval_loss": 0.69, "eval_rewards/margins": 0.1},
    {"step": 2, "loss": 0.6, "rewards/margins": 0.4},
    {"step": 2, "train_runtime": 3.0},
]


def test_loss_and_margin_are_drawn_by_step(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = draw_curves(HISTORY, "cdpo")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["loss", "margin"]
    loss, (_, *margin) = (
        [np.asarray(line.get_xydata()).tolist() for line in axes.lines] for axes in figure.axes
    )
    assert loss == [[[1, 0.7], [2, 0.6]], [[1, 0.69]]]
    assert margin == [[[1, 0.0], [2, 0.4]], [[1, 0.1]]]
    save_figure(figure, tmp_path / "training.png")
    assert (tmp_path / "training.png").stat().st_size > 5000
