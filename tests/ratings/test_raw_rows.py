import pytest

from darc.errors import TableError
from darc.ratings.database import Database
from darc.ratings.loading import load_rows
from darc.ratings.raw_rows import RowFault


def test_most_numbers_make_a_column_of_numbers() -> None:
    columns = {"a": ["1", "2", "oops", ""], "b": ["", "NA"] * 2, "c": ["7b", "7", "13b", ""]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    with Database() as db:
        loaded = load_rows(db, rows)
        assert [loaded.looks_numeric(name) for name in "abc"] == [True, True, False]


def test_the_first_row_with_a_fault_is_refused_whatever_the_fault() -> None:
    with Database() as db:
        loaded = load_rows(db, [{"a": "1", "b": "2"}, {"a": "1", "b": "x"}, {"a": "y", "b": "2"}])
        with pytest.raises(TableError, match="line 2: 'x' in column 'b' is not a number"):
            loaded.raise_first(loaded.number_faults(["a", "b"]))
        never = RowFault.plain(f"{loaded.column('a')} = ''", "never", "")
        loaded.raise_first([never])
