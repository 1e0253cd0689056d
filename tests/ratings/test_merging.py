from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from darc.errors import InputError
from darc.ratings.load import load_table
from darc.ratings.merging import merge_ratings
from darc.ratings.ratings import Ratings


def table(
    path: Path, rows: list[str], header: str = "prompt_id,candidate_id,rater_id,rating"
) -> Ratings:
    path.write_text("\n".join([header, *rows]) + "\n")
    return load_table(path)


def test_prompts_candidates_and_raters_are_joined_by_their_ids(tmp_path: Path) -> None:
    first = table(tmp_path / "a.csv", ["p,x,ann,1", "p,y,ann,2", "q,x,bob,3", "q,y,bob,4"])
    second = table(tmp_path / "b.csv", ["q,y,ann,5", "q,z,cid,6", "p,x,ann,3", "p,z,cid,1"])
    both = merge_ratings([first, second])
    assert list(both.prompt_ids) == ["p", "q"]
    assert [list(row) for row in both.candidate_ids] == [["x", "y", "z"], ["x", "y", "z"]]
    assert list(both.rater_names) == ["ann", "bob", "cid"]
    assert both.samples[0, 0, 0, 0] == 2, "a repeat is averaged"
    assert np.isnan(both.samples[0, 0, 0, 1])
    assert both.samples[1, 0, 1].tolist() == [5, 4]
    assert both.raters[1, 0, 1].tolist() == [0, 1]
    assert both.samples[1, 0, 2, 0] == 6


def test_a_file_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    ratings = table(tmp_path / "a.csv", ["p,x,ann,1", "p,x,bob,4", "p,y,ann,2"])
    both = merge_ratings([ratings, ratings])
    assert np.nansum(both.samples) == 7
    assert both.present.sum() == 3


def test_files_without_systems_are_systems(tmp_path: Path) -> None:
    rows = ["p,x,ann,1", "q,x,ann,2"]
    both = merge_ratings([table(tmp_path / "one.csv", rows), table(tmp_path / "two.csv", rows)])
    assert [list(row) for row in both.systems] == [["one", "two"], ["one", "two"]]
    assert both.present.sum() == 4


def test_an_id_of_two_systems_is_two_candidates(tmp_path: Path) -> None:
    header = "prompt_id,candidate_id,system,rater_id,rating"
    first = table(tmp_path / "a.csv", ["p,1,left,ann,1"], header)
    second = table(tmp_path / "b.csv", ["p,1,right,ann,5"], header)
    both = merge_ratings([first, second])
    assert [list(row) for row in both.systems] == [["left", "right"]]


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    ratings = table(tmp_path / "a.csv", ["p,x,ann,1", "p,y,ann,2"])
    with pytest.raises(InputError, match="not rated in the same way"):
        merge_ratings([ratings, replace(ratings, kind="rewrite")])
    with pytest.raises(InputError):
        merge_ratings([])
