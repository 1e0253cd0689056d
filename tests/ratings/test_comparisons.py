import numpy as np
import pytest
from tests.ratings.helpers import Cell, cells, cells_of, table_of

from darc.decide.statistics.pairwise import scalarize

HEADER = "prompt_id,left_id,right_id,rater_id,winner\n"


def test_win_rates_of_each_rater() -> None:
    text = HEADER + "q,a,b,r,Left\nq,b,c,r,TIE\nq,a,c,s,c\nq,a,b,s,a\nq,a,b,t,NA\np,x,y,r, right \n"
    assert cells_of(text) == [
        Cell("q", "", "a", (("r", 1.0), ("s", 0.5))),
        Cell("q", "", "b", (("r", 0.25), ("s", 0.0))),
        Cell("q", "", "c", (("r", 0.5), ("s", 1.0))),
        Cell("p", "", "x", (("r", 0.0),)),
        Cell("p", "", "y", (("r", 1.0),)),
    ]


def test_what_else_a_row_says_is_left_out() -> None:
    with table_of(HEADER.rstrip() + ",seconds\nq,a,b,r,left,3\n") as table:
        assert (table.layout, table.extra_columns) == ("pairwise", ())
        (batch,) = table.batches()
        assert batch.extras(0, 0) == {}
        assert batch.scorers == [""]


@pytest.mark.parametrize("method", ["win-rate", "bradley-terry", "thurstone"])
@pytest.mark.parametrize("fit_cells", [1, 500_000])
def test_many_prompts_at_once_are_as_one_by_one(
    method: str, fit_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darc.ratings.comparisons._FIT_CELLS", fit_cells)
    generator = np.random.default_rng(0)
    rows = []
    expected = {}
    for prompt in range(12):
        size = int(generator.integers(2, 5))
        games = int(generator.integers(3, 9))
        left = generator.integers(0, size, games)
        right = (left + generator.integers(1, size, games)) % size
        rater = generator.integers(0, 3, games)
        outcome = generator.choice([0.0, 0.5, 1.0], games)
        table = scalarize(method, left, right, rater, outcome, candidates=size, raters=3)
        for k, r in np.argwhere(~np.isnan(table)):
            expected[f"q{prompt}", f"c{k}", f"r{r}"] = table[k, r]
        words = {0.0: "right", 0.5: "tie", 1.0: "left"}
        rows += [
            (f"q{prompt}", f"c{a}", f"c{b}", f"r{who}", words[float(won)])
            for a, b, who, won in zip(left, right, rater, outcome, strict=True)
        ]
    generator.shuffle(rows)
    text = HEADER + "".join(",".join(row) + "\n" for row in rows)
    found = {}
    with table_of(text, scalarize=method, batch_rows=20, block_bytes=100) as pairs:
        for batch in pairs.batches():
            for prompt_id, _, candidate, samples in cells(batch):
                found.update({(prompt_id, candidate, who): value for who, value in samples})
    assert found == pytest.approx(expected, abs=1e-9)
