"""Scores as users hold them, and the names that decisions keep of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import darc
from darc.errors import InputError

CALM = [6.0, 6.0, 6.0, 6.0]
BOLD = [9.0, 9.0, 1.0, 1.0]
RATERS = ["ann", "ben", "cem", "dora"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("tidy", [True, False])
def test_frames_keep_their_names(library: str, tidy: bool) -> None:
    frames: Any = pytest.importorskip(library)
    if tidy:
        data: dict[str, list[Any]] = {
            "candidate_id": ["bold"] * 4 + ["calm"] * 4,
            "rater_id": RATERS * 2,
            "rating": BOLD + CALM,
        }
    else:
        data = {"candidate_id": ["bold", "calm"]}
        data |= {rater: [BOLD[i], CALM[i]] for i, rater in enumerate(RATERS)}
    decision = darc.select(frames.DataFrame(data), "epsilon", sample="rater")
    assert decision.names == ["bold", "calm"]
    assert decision.name == "calm"
    assert decision.rater_name(0, 2) == "cem"


def test_dicts_of_lists_and_one_list_of_raters() -> None:
    decision = darc.select({"bold": BOLD, "calm": CALM}, "epsilon", rater_ids=RATERS)
    assert "calm" in repr(decision)
    assert decision.rater_name(1, 3) == "dora"
    ragged = darc.select({"bold": BOLD, "calm": CALM[:3]}, "mean")
    assert ragged.statistics.count.tolist() == [4, 3]


def test_row_names_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([BOLD, CALM], index=["bold", "calm"], columns=RATERS)
    decision = darc.select(frame, "mean")
    assert decision.names == ["bold", "calm"]
    table = decision.to_frame()
    assert table["name"].tolist() == ["bold", "calm"]
    assert table["mean"].tolist() == pytest.approx([5.0, 6.0])
    assert table["chosen"].tolist() == [False, True]


def test_several_prompts_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"prompt_id": [1, 2], "candidate_id": "a", "rater_id": "r", "rating": 1.0}
    )
    with pytest.raises(InputError, match="2 prompts"):
        darc.select(frame)


def test_a_second_rating_by_the_same_rater_is_averaged() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "candidate_id": ["a", "a", "a", "a", "b", "b"],
            "rater_id": ["r", "r", "s", "s", "r", "s"],
            "rating": [1.0, 2.0, 5.0, None, 4.0, 4.0],
        }
    )
    statistics = darc.select(frame, "mean").statistics
    assert statistics.mean.tolist() == [3.25, 4.0]
    assert statistics.count.tolist() == [2, 2]


def test_rule_texts_and_calibration_files(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).integers(1, 6, (30, 3, 5)).astype(float)
    path = tmp_path / "file.json"
    calibration = darc.calibrate(scores)
    calibration.save(path)
    expected = darc.select(scores[0], calibration=calibration, caution=2)
    decision = darc.select(scores[0], "auto:caution=2", calibration=str(path))
    assert decision.index == expected.index
    assert decision.parameters["caution"] == 2


def test_public_names_and_registries_show_themselves() -> None:
    assert set(dir(darc)) - {"__version__"} == set(darc.__all__)
    assert "epsilon" in repr(darc.rules)
    rows = [{"prompt_id": "p", "candidate_id": "a", "rater_id": "r", "rating": 1}]
    with darc.read_ratings(rows) as table:
        assert "1 prompts" in repr(table)
