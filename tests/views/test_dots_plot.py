import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from tests.decide.test_pictures import NAMES, decide

import darc
from darc.decide.pictures import dot_picture
from darc.views import draw_ratings, save_figure
from darc.views.dots import DotPicture
from darc.views.dots_plot import MAX_ROWS, WIDTH


def words(picture: DotPicture) -> list[str]:
    return [text.get_text() for text in draw_ratings(picture).axes[0].texts]


def test_answers_choices_and_the_unhappy_are_written() -> None:
    written = words(dot_picture(decide(), {"joke": "Knock, knock."}, title="What to say?"))
    assert {*NAMES, "Knock, knock.", "What to say?", "unhappy below 5"} <= {*written}
    assert {"Chosen by auto", "Highest average (Best-of-K)"} <= {*written}
    assert "average 6.0, nobody unhappy" in written
    assert "average 6.4, 3 of 8 unhappy: hurried, sceptic and elsewhere" in written


def test_one_answer_taken_by_both_has_both_badges() -> None:
    picture = dot_picture(darc.select([[8, 9], [1, 2]], scale="0-10"))
    assert "Chosen by auto, highest average (Best-of-K)" in words(picture)


def test_every_rating_is_a_mark_and_the_unhappy_are_open() -> None:
    figure = draw_ratings(dot_picture(decide()))
    marks = list(figure.axes[0].collections)
    counts = [np.shape(mark.get_offsets())[0] for mark in marks]
    colors = [np.atleast_2d(np.asarray(mark.get_facecolor())) for mark in marks]
    white = [np.allclose(color[0, :3], to_rgb("white")) for color in colors]
    # One more of each kind is in the legend.
    assert sum(n for n, is_open in zip(counts, white, strict=True) if is_open) == 3 + 6 + 1
    assert sum(counts) == 24 + 2


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_large_pools_are_cut_to_the_chosen_and_the_best(tmp_path: Path, suffix: str) -> None:
    ratings = np.random.default_rng(0).normal(6, 1.5, size=(30, 40))
    ratings[3, :5] = np.nan
    last = darc.select(ratings, "tau")
    mean = darc.select(ratings, "mean")
    figure = draw_ratings(dot_picture(last, others=[mean], title="a prompt"))
    written = {text.get_text() for text in figure.axes[0].texts}
    names = {f"candidate {k}" for k in range(30)} & written
    assert len(names) == MAX_ROWS
    assert {f"candidate {last.index}", f"candidate {mean.index}"} <= names
    assert "22 more answers are not shown." in written
    path = tmp_path / f"picture.{suffix}"
    save_figure(figure, path)
    assert path.stat().st_size > 5000
    if suffix == "png":
        assert imread(path).std() > 0.02


def test_words_stay_inside_and_apart() -> None:
    texts = dict.fromkeys(NAMES, "several words of a text that is long " * 30)
    figure = draw_ratings(dot_picture(decide(), texts, title="a question " * 40))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert max(box.x1 for box in boxes) < WIDTH * figure.dpi
    assert min(box.y0 for box in boxes) > 0
    lines = sorted((box for box in boxes if box.width > 100), key=lambda box: -box.y1)
    for above, below in pairwise(lines):
        assert above.y0 >= below.y0


def test_dollars_and_letters_without_a_glyph_are_drawn_in_silence(tmp_path: Path) -> None:
    decision = decide()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decision.plot(tmp_path / "a.png", {"joke": "$5 and $6_x", "story": "\u4f60\u597d"})
    assert (tmp_path / "a.png").exists()


def test_it_is_said_when_no_answer_is_good() -> None:
    held = darc.select(np.full((2, 9), 2.0), scale="0-10")
    assert "None of these answers is good." in words(dot_picture(held))


@pytest.mark.parametrize(
    ("scores", "how"),
    [
        ([[3, 4, 1]], {"scale": "1-5"}),
        ([[3, 4], [5, 2]], {"scale": "1-5"}),
        ([[1, 0, -1], [1, 1, 1]], {"scale": (-1, 1)}),
        ([[3.0, 3.0], [3.0, 3.0]], {}),
        ([[0.5], [0.7]], {"sample": "rewrite"}),
    ],
)
def test_small_pools_can_be_drawn(scores: list[list[float]], how: dict[str, Any]) -> None:
    figure = darc.select(scores, **how).plot().figure
    names = {text.get_text() for text in figure.axes[0].texts}
    assert {f"candidate {k}" for k in range(len(scores))} <= names
