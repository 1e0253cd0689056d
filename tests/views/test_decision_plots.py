from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import darc
from darc.errors import InputError, MissingExtra
from darc.views import check_picture, draw_plane, plane, save_figure

SCORES = [
    [9.0, 1.0, 9.0, 9.0],
    [7.0, 6.0, 7.0, 7.0],
    [6.6, 6.6, 6.6, 6.6],
    [4.0, 5.0, 4.0, 5.0],
    [3.0, np.nan, np.nan, np.nan],
]


def test_points_frontier_and_choices() -> None:
    decision = darc.select(SCORES, "epsilon", candidate_ids=list("abcde"))
    data = plane(decision, [darc.select(SCORES, "mean")], "tea")
    assert [point.name for point in data.points] == ["a", "b", "c", "d"]
    chosen = {point.name: point.chosen_by for point in data.points}
    assert chosen == {"a": ("mean",), "b": (), "c": ("epsilon",), "d": ()}
    assert [point.name for point in data.points if point.feasible] == ["b", "c"]
    assert [point.name for point in data.points if point.on_frontier] == ["b", "c"]
    assert data.frontier[0] == (0.0, 6.6)
    assert data.floor is not None
    assert np.isclose(data.floor, decision.statistics.value[1] - 0.25)


def test_no_floor_for_other_rules() -> None:
    assert plane(darc.select(SCORES, "entropic")).floor is None


def test_candidates_ruled_out_early_have_no_place() -> None:
    decision = darc.select(SCORES[:4], "entropic", candidate_ids=list("abcd"))
    lazy = replace(decision, bounded=np.array([True, False, False, False]))
    data = plane(lazy)
    assert [point.name for point in data.points] == ["b", "c", "d"]


def decisions(candidates: int = 16) -> list[darc.Decision]:
    scores = np.random.default_rng(0).normal(6, 1.5, size=(candidates, 9))
    names = [f"answer number {i}" for i in range(candidates)]
    return [darc.select(scores, rule, candidate_ids=names) for rule in ("mean", "epsilon")]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_picture_is_written(tmp_path: Path, suffix: str) -> None:
    mean, epsilon = decisions()
    path = tmp_path / f"picture.{suffix}"
    save_figure(draw_plane(plane(epsilon, [mean], "a prompt")), path)
    assert path.stat().st_size > 5000
    if suffix == "png":
        assert imread(path).std() > 0.05


def test_picture_names_the_choices() -> None:
    mean, epsilon = decisions()
    figure = draw_plane(plane(epsilon, [mean], "a prompt"))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert any(text.startswith("mean: ") for text in texts)
    assert any(text.startswith("epsilon: ") for text in texts)
    assert figure.axes[0].get_title(loc="left") == "a prompt"


def test_one_candidate_can_be_drawn() -> None:
    scores = [[1.0, 2.0]]
    assert draw_plane(plane(darc.select(scores))) is not None


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(InputError, match="no candidate has a sigma"):
        draw_plane(plane(darc.select([[1.0], [2.0]])))


def test_other_endings_are_refused() -> None:
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf"):
        check_picture(Path("picture.doc"))


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"\[plot\]"):
        check_picture(Path("picture.png"))
