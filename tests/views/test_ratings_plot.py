from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import darc
from darc.views import draw_ratings, save_figure

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
