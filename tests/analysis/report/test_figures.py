from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import Evaluation, evaluate
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.frame import Frame
from darc.analysis.report.figures import FIGURES, draw_figures
from darc.analysis.report.frame_parts import numbers
from darc.analysis.report.picture import Picture
from darc.views.chart import figure_svg, write_picture

SETTINGS = ContestSettings(splits=2, draws=30)


@pytest.fixture(scope="module")
def result() -> Evaluation:
    proxy = make_source(kind="rewrite", scorers=2, name="run", seed=1)
    return evaluate([proxy, make_source(name="people")], SETTINGS)


@pytest.fixture(scope="module")
def pictures(result: Evaluation) -> list[Picture]:
    return draw_figures(result.frames)


def lines(axes: Any) -> list[Any]:
    return [line for line in axes.get_lines() if not line.get_label().startswith("_")]


def test_every_frame_with_a_figure_is_drawn_for_every_source(
    result: Evaluation, pictures: list[Picture]
) -> None:
    kinds = {picture.name.split("-")[0] for picture in pictures}
    assert kinds == {
        *("gains", "ridges", "buckets", "scatter", "overlap", "ablation"),
        *("frontier", "calibration"),
    }
    assert {frame.name for frame in result.frames} >= set(FIGURES)
    assert len({picture.name for picture in pictures}) == len(pictures)
    people = "buckets-people-3-run-judged-by-people"
    assert [p.name for p in pictures if p.name.startswith("buckets-people")] == [people]
    knobs = {p.name.split("-")[1] for p in pictures if p.name.startswith("ablation")}
    assert knobs == {"K", "beta", "epsilon", "samples", "n_aug"}
    assert sum(picture.name.startswith("gains") for picture in pictures) == 3


def test_names_are_plain_for_one_source(result: Evaluation) -> None:
    human = result.frame("human")
    assert human is not None
    assert [picture.name for picture in draw_figures([human.where(source="people")])] == ["gains"]


def test_series_differ_by_marker_and_by_dashes(pictures: list[Picture]) -> None:
    checked = 0
    for picture in pictures:
        if picture.name.split("-")[0] in ("ridges", "scatter", "gains"):
            continue
        for axes in picture.figure.axes:
            series = [line for line in lines(axes) if line.get_marker() not in ("None", "")]
            looks = [(line.get_marker(), str(line._unscaled_dash_pattern)) for line in series]
            assert len({marker for marker, _ in looks}) == len(looks), picture.name
            dashed = [dash for line, (_, dash) in zip(series, looks, strict=True) if joined(line)]
            assert len(set(dashed)) == len(dashed), picture.name
            checked += len(looks)
    assert checked > 20


def joined(line: Any) -> bool:
    return line.get_linestyle() not in ("None", "")


def test_gains_are_the_frame_s_numbers(result: Evaluation) -> None:
    human = result.frame("human")
    assert human is not None
    picture = draw_figures([human.where(source="people")])[0]
    tradeoff = next(axes for axes in picture.figure.axes if axes.get_title("left") == "tradeoff")
    rows = human.where(source="people", subset="overall")
    drawn = next(line for line in lines(tradeoff) if line.get_label() == "overall").get_xdata()
    np.testing.assert_allclose(drawn, numbers(rows, "delta_tradeoff")[1:])


def test_names_of_people_are_only_text() -> None:
    columns = ("source", "ratings", "items", "share", "overlap", "by_chance")
    rows = [
        ("<b>", "<script>alert(1)</script>", "all", share, share, share) for share in (0.1, 0.2)
    ]
    made = [dict(zip(columns, row, strict=True)) for row in rows]
    picture = draw_figures([Frame.of("overlap", "t", made)])[0]
    assert "<script>" not in figure_svg(picture.figure, picture.name)


def test_the_same_frames_give_the_same_svg(result: Evaluation) -> None:
    frames = [frame for frame in result.frames if frame.name in ("frontier", "calibration")]
    first, second = (
        [figure_svg(picture.figure, picture.name) for picture in draw_figures(frames)]
        for _ in range(2)
    )
    assert first == second


def test_missing_numbers_are_no_obstacle() -> None:
    source = make_source(prompts=3, raters=2)
    few = evaluate([source], ContestSettings(rules=("epsilon",), splits=2, draws=10))
    for picture in draw_figures(few.frames):
        assert "<svg" in figure_svg(picture.figure, picture.name)


def test_odd_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    name = "数据 $x_{$ <b>"
    odd = make_source(name=name, scorers=2)
    odd = replace(odd, scorers=["$\\frac{$", "_hidden"])
    result = evaluate([odd], ContestSettings(rules=("lcb",), splits=2, draws=10))
    pictures = draw_figures(result.frames)
    for picture in pictures:
        _, svg = write_picture(picture.figure, tmp_path, picture.name)
        if picture.name == "ridges":
            assert "$\\frac{$" in svg
    assert len(pictures) == 9


def test_ridges_are_of_the_high_variance_prompts_and_name_means_and_sigmas(
    result: Evaluation,
) -> None:
    densities = result.frame("densities")
    assert densities is not None
    rows = densities.where(source="run judged by people")
    (picture,) = draw_figures([rows])
    assert "high-variance" in picture.caption
    (axes,) = picture.figure.axes
    labels = [text.get_text() for text in axes.texts]
    methods = list(dict.fromkeys(rows.column("method")))
    assert len(labels) == len(methods)
    record = rows.where(subset="high-variance", method="mean").records()[0]
    assert (
        labels[methods.index("mean")]
        == f"\u03bc {record['mean']:.2f}  \u03c3 {record['sigma']:.2f}"
    )
