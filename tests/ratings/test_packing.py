import numpy as np
import pytest
from tests.ratings.helpers import TIDY, table_of

from darc.ratings.packing import SamplePacking, plan_batches


def test_a_candidate_that_is_not_there_has_no_extras() -> None:
    with table_of(TIDY.replace("\n", ",model\n") + "q,a,r,1,big\np,a,r,1,big\np,b,r,1,\n") as table:
        (batch,) = table.batches()
        assert batch.extras(0, 0) == {"model": "big"}
        assert batch.extra_columns["model"] == [["big"], ["big", ""]]
        with pytest.raises(IndexError, match="prompt 0 has no candidate 1"):
            batch.extras(0, 1)


def test_samples_are_packed_to_the_left_by_prompt_scorer_and_candidate() -> None:
    # Two prompts of one and two candidates under two scorers: cells 0 to 5.
    cell = np.array([0, 0, 1, 3, 4, 4])
    sizes = np.array([1, 2])
    packing = SamplePacking(cell, sizes, 2)
    scores = packing.array(np.arange(6.0))
    raters = packing.array(np.arange(6))
    assert scores.shape == raters.shape == (2, 2, 2, 2)
    assert raters.tolist() == [
        [[[0, 1], [-1, -1]], [[2, -1], [-1, -1]]],
        [[[-1, -1], [4, 5]], [[3, -1], [-1, -1]]],
    ]
    assert np.array_equal(scores, np.where(raters < 0, np.nan, raters), equal_nan=True)


@pytest.mark.parametrize(
    ("most_rows", "most_cells", "ranges"),
    [
        (100, 100, [(0, 4)]),
        (5, 100, [(0, 2), (2, 4)]),
        (1, 1, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        # The third prompt is wide and pads the others to its width.
        (100, 20, [(0, 2), (2, 4)]),
    ],
)
def test_prompts_are_cut_where_rows_or_padding_grow(
    most_rows: int, most_cells: int, ranges: list[tuple[int, int]]
) -> None:
    rows, width, depth = (np.array(each) for each in ([2, 3, 4, 1], [1, 1, 9, 1], [2, 2, 1, 1]))
    assert plan_batches(rows, width, depth, most_rows, most_cells) == ranges
