import numpy as np
import pytest
from tests.ratings.helpers import Cell, cells_of, table_of

TEXT = (
    "Unnamed: 0,prompt_id,candidate_id,ann,model,bob,carl\n"
    "0,q1,a,1,big,2,\n"
    "1,q1,b,,small,3,\n"
    "2,q2,a,4,big,5,6\n"
)


def test_numeric_and_empty_columns_are_raters_and_texts_are_extras() -> None:
    with table_of(TEXT) as table:
        assert (table.layout, table.rows, table.extra_columns) == ("wide", 3, ("model",))
        (batch,) = table.batches()
        assert batch.extras(0, 1) == {"model": "small"}
        assert batch.samples.shape == (2, 1, 2, 3)
    assert cells_of(TEXT) == [
        Cell("q1", "", "a", (("ann", 1.0), ("bob", 2.0))),
        Cell("q1", "", "b", (("bob", 3.0),)),
        Cell("q2", "", "a", (("ann", 4.0), ("bob", 5.0), ("carl", 6.0))),
    ]


def test_named_raters_leave_the_other_columns_to_the_extras() -> None:
    with table_of(TEXT, raters=["bob", "bob"]) as table:
        assert table.extra_columns == ("ann", "model", "carl")
        (batch,) = table.batches()
        assert np.array_equal(batch.samples[0, 0], [[2.0], [3.0]])
        assert batch.samples[1, 0, 0, 0] == 5.0
        assert np.isnan(batch.samples[1, 0, 1]).all()
        assert batch.extras(0, 0) == {"ann": "1", "model": "big", "carl": ""}


def test_scorers_as_rows() -> None:
    text = "prompt_id,candidate_id,scorer_id,ann\nq,a,s,1\nq,a,t,2\n"
    assert cells_of(text) == [
        Cell("q", "s", "a", (("ann", 1.0),)),
        Cell("q", "t", "a", (("ann", 2.0),)),
    ]


def test_json_rows_may_have_raters_that_others_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("darc.ratings.raw_rows.BLOCK_ROWS", 1)
    rows = (
        '{"prompt_id": 1, "candidate_id": "a", "ann": 1, "bob": null}\n'
        '{"prompt_id": 1, "candidate_id": "b", "bob": 2, "note": "late"}\n'
        '{"prompt_id": 1, "candidate_id": "c", "cem": 3}\n'
    )
    with table_of(rows, "x.jsonl") as table:
        assert next(table.batches()).extras(0, 1) == {"note": "late"}
    assert cells_of(rows, "x.jsonl") == [
        Cell("1", "", "a", (("ann", 1.0),)),
        Cell("1", "", "b", (("bob", 2.0),)),
        Cell("1", "", "c", (("cem", 3.0),)),
    ]
