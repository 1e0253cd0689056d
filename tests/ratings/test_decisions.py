from pathlib import Path

import numpy as np
import pytest

from darc.decide.method import parse_methods
from darc.decide.model.calibration import DEFAULT
from darc.decide.standards import NO_STANDARDS, Standards
from darc.errors import TableError
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table, standards_for
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


def ratings(tmp_path: Path, values: list[float], rater: str = "r{}", column: str = "note") -> Path:
    path = tmp_path / "ratings.csv"
    rows = [
        f"p{p},c{c},{rater.format(i)},{value},s{i % 2}"
        for p in range(3)
        for c in range(2)
        for i, value in enumerate(values)
    ]
    path.write_text(f"prompt_id,candidate_id,rater_id,rating,{column}\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("values", "scale"), [([2, 4], (1, 5)), ([0, 1], (0, 1)), ([-3, 12], (-3, 12))]
)
def test_the_scale_is_the_likely_one_of_all_ratings(
    tmp_path: Path, values: list[float], scale: tuple[float, float]
) -> None:
    with read_ratings(ratings(tmp_path, values)) as table:
        assert standards_for(table, NO_STANDARDS).scale == scale
        assert standards_for(table, Standards(threshold=2)) == Standards(scale, 2)
        assert standards_for(table, Standards((0, 50))).scale == (0, 50)


def test_scores_of_rewrites_and_several_scorers_have_no_scale(tmp_path: Path) -> None:
    with read_ratings(ratings(tmp_path, [2, 4], "rewrite {}")) as table:
        assert table.kind == "rewrite"
        assert standards_for(table, NO_STANDARDS).scale is None
        (batch,) = decide_table(table, parse_methods(["auto"]))
        assert batch.decisions[0].pools.about_wording
        assert batch.decisions[0].rule.parameters["calibration"] is DEFAULT
    with read_ratings(ratings(tmp_path, [2, 4, 3, 5], column="scorer_id")) as table:
        assert table.kind == "rater"
        assert standards_for(table, NO_STANDARDS).scale is None
