from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import darc
from darc.decide.pictures import decision_plane
from darc.errors import InputError
from darc.views import draw_plane, save_figure


def decisions(candidates: int = 16) -> list[darc.Decision]:
    scores = np.random.default_rng(0).normal(6, 1.5, size=(candidates, 9))
    names = [f"answer number {i}" for i in range(candidates)]
    return [darc.select(scores, rule, candidate_ids=names) for rule in ("mean", "epsilon")]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_picture_is_written(tmp_path: Path, suffix: str) -> None:
    mean, epsilon = decisions()
    path = tmp_path / f"picture.{suffix}"
    save_figure(draw_plane(decision_plane(epsilon, [mean], "a prompt")), path)
    assert path.stat().st_size > 5000
    if suffix == "png":
        assert imread(path).std() > 0.05


def test_picture_names_the_choices() -> None:
    mean, epsilon = decisions()
    figure = draw_plane(decision_plane(epsilon, [mean], "a prompt"))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert any(text.startswith("mean: ") for text in texts)
    assert any(text.startswith("epsilon: ") for text in texts)
    assert figure.axes[0].get_title(loc="left") == "a prompt"


def test_one_candidate_can_be_drawn() -> None:
    scores = [[1.0, 2.0]]
    assert draw_plane(decision_plane(darc.select(scores))) is not None


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(InputError, match="no candidate has a sigma"):
        draw_plane(decision_plane(darc.select([[1.0], [2.0]])))
