import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from darc.tables.grouping import duplicate, first_appearance, group, narrow
from darc.tables.records import rating_dtype

repeatable = settings(derandomize=True, max_examples=150, deadline=None, database=None)
pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3)), min_size=1, max_size=40)


@repeatable
@given(pairs)
def test_pairs_are_numbered_by_first_appearance(rows: list[tuple[int, int]]) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    number, first = first_appearance(*np.array(rows, dtype=np.int64).T)
    distinct = list(dict.fromkeys(rows))
    assert number.tolist() == [distinct.index(row) for row in rows]
    assert first.tolist() == [rows.index(pair) for pair in distinct]


def test_many_prompts_are_sorted_without_sixteen_bits() -> None:
    prompt = np.repeat(np.arange(70_000), 2)
    item = np.tile([5, -5], 70_000)
    number, first = first_appearance(prompt, item)
    assert np.array_equal(number, np.arange(140_000))
    assert np.array_equal(first, number)
    assert narrow(prompt, 70_000).dtype == prompt.dtype


ratings = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)),
    min_size=1,
    max_size=40,
)


@repeatable
@given(ratings, st.lists(st.booleans(), min_size=40, max_size=40))
def test_the_second_of_two_equal_raters_is_found(
    rows: list[tuple[int, int, int, int]], missing: list[bool]
) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    records = np.zeros(len(rows), rating_dtype(0))
    for name, column in zip(
        ("prompt", "candidate", "scorer", "rater"), zip(*rows, strict=True), strict=True
    ):
        records[name] = column
    records["rating"] = np.where(missing[: len(rows)], np.nan, 1.0)
    present = [at for at in range(len(rows)) if not missing[at]]
    grouping = group(records, 0, 2)
    assert sorted(grouping.rows.tolist()) == present
    assert grouping.counts.sum() == len(present)
    seen: dict[tuple[int, int, int, int], int] = {}
    expected = None
    for at in present:
        if rows[at] in seen:
            expected = (seen[rows[at]], at)
            break
        seen[rows[at]] = at
    assert duplicate(records, grouping) == expected
