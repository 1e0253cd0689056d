"""Rows in any order give the same tables."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ratings.helpers import TIDY, Cell, cells, table_of

Row = tuple[str, str, str, float]

repeatable = settings(derandomize=True, max_examples=60, deadline=None, database=None)
names = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=4)
small = st.sampled_from(["a", "b", "c", 'd"', "e,\n", "é"])
rows = st.lists(
    st.tuples(st.one_of(small, names), small, small, st.floats(-9, 9)),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:3],
)


def quoted(text: str) -> str:
    return (
        '"' + text.replace('"', '""') + '"' if set(text) & set('",\n') or not text.strip() else text
    )


def csv_of(table: list[Row]) -> str:
    return TIDY + "".join(",".join([*map(quoted, row[:3]), repr(row[3])]) + "\n" for row in table)


def expected(table: list[Row]) -> list[Cell]:
    """The cells by the obvious code."""
    prompts: defaultdict[str, defaultdict[str, list[tuple[str, float]]]]
    prompts = defaultdict(lambda: defaultdict(list))
    for prompt, candidate, rater, rating in table:
        prompts[prompt][candidate].append((rater, rating))
    return [
        Cell(prompt, "", candidate, tuple(samples))
        for prompt, pool in prompts.items()
        for candidate, samples in pool.items()
    ]


@pytest.mark.slow
@repeatable
@given(rows, st.integers(1, 12), st.integers(1, 200))
def test_rows_in_any_order(table: list[Row], batch: int, block: int) -> None:
    found = []
    with table_of(csv_of(table), batch_rows=batch, block_bytes=block) as ratings:
        assert ratings.rows == len(table)
        for part in ratings.batches():
            found += cells(part)
    assert found == expected(table)


@pytest.mark.slow
@repeatable
@given(rows, st.randoms(use_true_random=False), st.integers(1, 8))
def test_shuffled_rows_give_the_batches_of_grouped_rows(
    table: list[Row], random: object, limit: int
) -> None:
    assert hasattr(random, "shuffle")
    shuffled = list(table)
    random.shuffle(shuffled)
    order = {key: at for at, key in enumerate(dict.fromkeys(row[0] for row in shuffled))}
    inner = {key: at for at, key in enumerate(dict.fromkeys(row[:2] for row in shuffled))}
    grouped = sorted(shuffled, key=lambda row: (order[row[0]], inner[row[:2]]))
    options: dict[str, Any] = {"batch_rows": limit, "block_bytes": 40}
    with table_of(csv_of(shuffled), **options) as one, table_of(csv_of(grouped)) as other:
        left = [cell for batch in one.batches() for cell in cells(batch)]
        right = [cell for batch in other.batches() for cell in cells(batch)]
    assert left == right


def test_extras_of_scattered_rows() -> None:
    header = TIDY.rstrip() + ",model\n"
    rows = [
        f"q{i % 5},c{i % 3},r{i},{i},model of {i % 5}/{i % 3} {'x' * 400}\n" for i in range(150)
    ]
    with table_of(header + "".join(rows), batch_rows=30) as table:
        assert table.extra_columns == ("model",)
        for batch in table.batches():
            for p, prompt in enumerate(batch.prompt_ids):
                for k, candidate in enumerate(batch.candidate_ids[p]):
                    model = batch.extras(p, k)["model"]
                    assert model.startswith(f"model of {prompt[1:]}/{candidate[1:]} x")
