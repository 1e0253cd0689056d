from pathlib import Path

import numpy as np
import pytest

from darc.errors import TableError
from darc.ratings.side_table import read_side_table


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "side.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_named_numbers_by_candidate(tmp_path: Path) -> None:
    path = write(tmp_path, "prompt_id,candidate_id,tokens,note\np,a,5,x\np,b,7,y\n")
    side = read_side_table(path)
    assert side.numbers_of("tokens", "p", ["b", "a"]).tolist() == [7.0, 5.0]
    assert set(side.numbers) == {"tokens"}
    with pytest.raises(TableError, match="no tokens for candidate 'c' of prompt 'p'"):
        side.numbers_of("tokens", "p", ["a", "c"])


def test_similarities_in_either_order(tmp_path: Path) -> None:
    path = write(
        tmp_path, "prompt_id,left_id,right_id,similarity\np,a,b,0.5\np,c,a,0.2\np,b,c,0.1\n"
    )
    side = read_side_table(path)
    expected = [[1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.2, 0.1, 1.0]]
    assert np.array_equal(side.numbers_of("similarity", "p", ["a", "b", "c"]), expected)
    with pytest.raises(TableError, match="no similarity of 'a' and 'z'"):
        side.numbers_of("similarity", "p", ["a", "z"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prompt_id,candidate,tokens\np,a,5\n", "no column 'candidate_id'"),
        ("prompt_id,candidate_id\np,a\n", "no side inputs"),
        ("prompt_id,candidate_id,tokens\np,a,5\np,a,6\n", "line 3"),
        ("prompt_id,candidate_id,tokens\np,a,5\np,b,6\np,c,x\n", "line 4"),
    ],
)
def test_bad_side_files(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TableError) as caught:
        read_side_table(write(tmp_path, text))
    assert words in str(caught.value)
