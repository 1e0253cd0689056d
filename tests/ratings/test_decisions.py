from pathlib import Path

import pytest

from darc.decide.method import parse_methods
from darc.decide.model.calibration import DEFAULT
from darc.decide.standards import NO_STANDARDS, Standards
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table, standards_for


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
