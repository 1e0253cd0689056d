from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import darc
from darc.errors import InputError, MissingExtra
from darc.views import check_picture, draw_plane, draw_ratings, plane, save_figure

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


def test_candidates_ruled_out_early_are_marked_and_off_the_frontier() -> None:
    scores = np.array([[5.0] * 6, [9.0, -9.0, 9.0, 9.0, 9.0, 9.0], [4.9] * 6])
    lazy = darc.select_lazily(lambda pairs: [scores[pair] for pair in pairs], 3, 6, "entropic")
    assert lazy.bounded is not None
    data = plane(lazy)
    assert [point.bounded for point in data.points] == lazy.bounded.tolist()
    assert any(point.bounded for point in data.points)
    assert not any(point.on_frontier for point in data.points if point.bounded)


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


RATINGS = [[9, 9, 9, 9, 9, 9, 9, 1, 1], [7, 7, 7, 7, 8, 7, 7, 7, 7], [6, 7, 6, 7, 6, 7, 6, 7, 6]]
NAMES = ["the joke", "the kind one", "the dull one"]


def words(*rules: str, **texts: str) -> list[str]:
    made = [darc.select(RATINGS, rule, candidate_ids=NAMES, sample="rater") for rule in rules]
    figure = draw_ratings(
        made, "What to say?", {name.replace("_", " "): texts[name] for name in texts}
    )
    return [text.get_text() for text in figure.axes[0].texts] + [
        figure.axes[0].get_title(loc="left")
    ]


def test_answers_and_who_takes_them_are_named() -> None:
    found = words("mean", "auto", the_joke="Knock, knock.")
    assert {*NAMES, "Knock, knock.", "Best-of-K takes this", "auto takes this", "What to say?"} <= {
        *found
    }
    assert "mean 7.22, 2 of 9 unhappy" in found
    assert "mean 7.11, nobody unhappy" in found


def test_one_answer_taken_by_both_is_said_once() -> None:
    assert "epsilon and auto take this" in words("epsilon", "auto")


def test_every_rating_is_a_dot() -> None:
    figure = draw_ratings([darc.select(RATINGS, "mean")], "")
    assert sum(np.shape(dots.get_offsets())[0] for dots in figure.axes[0].collections) == 27


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_large_pools_are_cut_to_the_best_and_the_chosen(tmp_path: Path, suffix: str) -> None:
    ratings = np.random.default_rng(0).normal(6, 1.5, size=(30, 40))
    ratings[3, :5] = np.nan
    made = [darc.select(ratings, rule) for rule in ("mean", "tau")]
    figure = draw_ratings(made, "a prompt")
    names = {text.get_text() for text in figure.axes[0].texts}
    shown = {f"candidate {k}" for k in range(30)} & names
    assert len(shown) == 8
    assert {f"candidate {each.index}" for each in made} <= shown
    path = tmp_path / f"picture.{suffix}"
    save_figure(figure, path)
    assert path.stat().st_size > 5000
    if suffix == "png":
        assert imread(path).std() > 0.02
