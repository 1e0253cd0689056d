"""What the database would do on its own, and must not."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ratings.helpers import TIDY, Cell, cells_of, refusal, table_of

from darc.errors import InputError, TableError
from darc.ratings import read_ratings
from darc.ratings.database import Database
from darc.ratings.loading import load_file, sniff_delimiter
from darc.ratings.plain_files import plain_file

repeatable = settings(derandomize=True, max_examples=60, deadline=None, database=None)
ONE = [Cell("q", "", "a", (("r", 1.0),))]


def rows_of(text: str, size: int = 1000) -> tuple[list[tuple[str, ...]], list[int]]:
    with Database() as db, patch("darc.ratings.plain_files.BLOCK_BYTES", size):
        loaded = load_file(db, plain_file("x.csv", io.BytesIO(text.encode()), db.spare_path))
        rows = list(zip(*map(loaded.texts, loaded.names), strict=True))
        return rows, [loaded.locate(row)[1] for row in range(loaded.rows)]


cell = st.text(st.sampled_from('ab é,"\n;'), max_size=5)


@repeatable
@given(st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=20), st.integers(1, 60))
def test_rows_and_lines_are_those_of_the_csv_module(
    table: list[tuple[str, str, str]], size: int
) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([("x", "y", "z"), *table])
    starts = []
    line = 2
    for row in table:
        starts.append(line)
        line += 1 + sum(cell.count("\n") for cell in row)
    assert rows_of(stream.getvalue(), size) == (table, starts)


def test_quoted_newlines_and_inner_quotes() -> None:
    text = 'x,"y\n1"\r\na,b\r\n"c\n\nd","e"\r\n\r\n"f","g ""h"""\r\ni,5" disk\r\n'
    rows, lines = rows_of(text)
    assert rows == [("a", "b"), ("c\n\nd", "e"), ("f", 'g "h"'), ("i", '5" disk')]
    assert lines == [3, 4, 8, 9]


def test_quotes_across_the_buffers_of_two_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darc.ratings.loading.LONGEST_LINE", 4096)
    words = ["a", 'b"x', 'c,\n"z"', '5" d\n\n,,"', "é" * 20]
    picked = np.random.default_rng(0).integers(0, len(words), 3000)
    expected = [(f"q{i}", words[k], str(i)) for i, k in enumerate(picked)]
    path = tmp_path / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("x", "y", "z"), *expected])
    with Database() as db:
        loaded = load_file(db, plain_file(path, None, db.spare_path))
        assert list(zip(*map(loaded.texts, loaded.names), strict=True)) == expected


def test_a_quote_that_the_last_line_never_closes_loses_no_row() -> None:
    assert refusal(TIDY + 'q,5" x,r,1\nq,a,"s,1\n').line == 3


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a", ","), ('"a;b;c",d', ","), ("a,b;c;d", ";")],
)
def test_the_delimiter_is_sniffed_from_the_header(header: str, delimiter: str) -> None:
    assert sniff_delimiter(header) == delimiter


def test_ragged_rows_lose_neither_header_nor_rows() -> None:
    error = refusal(TIDY + "q,a,r,1\n" * 30 + "q,a\n")
    assert (error.line, "too few fields" in str(error)) == (32, True)


def test_names_that_differ_in_case_only_are_two_columns() -> None:
    text = TIDY.rstrip() + ",Rating\nq,a,r,1,x\n"
    with table_of(text) as table:
        assert table.extra_columns == ("Rating",)
        assert next(table.batches()).extra_columns["Rating"] == [["x"]]


def test_a_decimal_comma_is_no_number_and_neither_are_words_of_the_database() -> None:
    for text in ("1_000", "1_0", "true", "0x1", "--1", "n/a", "x", '"1,5"'):
        assert "not a number" in str(refusal(TIDY + f"q,a,r,{text}\n")), text
    for text in ("inf", "-Infinity", "1e999"):
        assert "infinity" in str(refusal(TIDY + f"q,a,r,{text}\n")), text
    for text in ("+1", "1.", " 1 ", "1e0", "1\t"):
        assert cells_of(TIDY + f"q,a,r,{text}\n") == ONE, text


@pytest.mark.slow
@repeatable
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_numbers_are_read_exactly(values: list[float]) -> None:
    rows = "".join(f"q,a,r{i},{value!r}\n" for i, value in enumerate(values))
    (found,) = cells_of(TIDY + rows)
    assert [value for _, value in found.samples] == values


def test_a_nul_character_is_refused_with_its_line() -> None:
    error = refusal(TIDY + "q,a,r,1\nq,b\0,r,1\n")
    assert (error.line, "NUL" in str(error)) == (3, True)


def test_json_ids_keep_their_spelling() -> None:
    row = '{"prompt_id": 1e5, "candidate_id": 1.50, "rater_id": 0.10, "rating": 1.0}\n'
    assert cells_of(row, "x.jsonl") == [Cell("1e5", "", "1.50", (("0.10", 1.0),))]


def test_a_malformed_object_is_counted_right() -> None:
    good = '{"prompt_id": 1, "candidate_id": 2, "rater_id": 3, "rating": 1}\n'
    assert refusal(good + "\n{\n", "x.jsonl").line == 3


@pytest.mark.parametrize("pack", [gzip.compress, lambda d: zstandard.ZstdCompressor().compress(d)])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.csv.zst", "x"])
def test_packing_is_known_by_the_first_bytes(tmp_path: Path, pack: Any, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(pack((TIDY + "q,a,r,1\n").encode()))
    with read_ratings(path) as table:
        assert table.rows == 1


def test_damaged_zstd() -> None:
    data = zstandard.ZstdCompressor().compress((TIDY + "q,a,r,1\n" * 900).encode())
    assert "ends too early" in str(refusal(data[:-9], "x.csv.zst"))
    assert "damaged" in str(refusal(data[:20] + b"\xff" * 90, "x.csv.zst"))
    two_frames = data + zstandard.ZstdCompressor().compress(b"q,b,r,2\n")
    with table_of(two_frames, "x.csv.zst") as table:
        assert table.rows == 901


@pytest.mark.parametrize("name", ["*.csv", "[ab].csv", "a=1/x.csv", "it's.csv"])
def test_names_stand_for_one_file_and_add_no_columns(tmp_path: Path, name: str) -> None:
    (tmp_path / "a=1").mkdir()
    for each in (name, "a.csv", "b.csv"):
        (tmp_path / each).write_text(TIDY + "q,a,r,1\n", encoding="utf-8")
    with read_ratings(tmp_path / name) as table:
        assert (table.rows, table.extra_columns) == (1, ())


def test_lines_may_end_in_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(TIDY.encode() + b"q,a,r,1\nq,a,s,2\r\nq,a,t,3\n")
    with read_ratings(path) as table:
        assert table.rows == 3


def test_rows_keep_their_order_beyond_memory() -> None:
    rows = [(f"q{i % 977}", f"c{i % 3}", f"r{i}", i) for i in range(60_000)]
    text = TIDY + "".join(",".join(map(str, row)) + "\n" for row in rows)
    found = cells_of(text, memory_mb=20, batch_rows=5_000)
    assert [cell.prompt for cell in found[::3]] == [f"q{i}" for i in range(977)]
    assert all(list(c.samples) == sorted(c.samples, key=lambda s: s[1]) for c in found)


def test_spreadsheets(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in (
        ["prompt_id", "candidate_id", "rater_id", "rating"],
        [1, "a", 7, 4],
        [1, "b", 7, 2.5],
    ):
        book.active.append(row)
    path = tmp_path / "x.xlsx"
    book.save(path)
    with read_ratings(path) as table:
        batch = next(table.batches())
        assert (batch.prompt_ids, batch.candidate_ids) == (["1"], [["a", "b"]])
        assert batch.samples[0, 0].tolist() == [[4.0], [2.5]]
    book.active["D3"] = "good"
    book.save(path)
    with pytest.raises(TableError, match=r"x\.xlsx, line 3: 'good' in column 'rating'"):
        read_ratings(path)


FRAME: dict[str, list[Any]] = {
    "prompt_id": [1, 1],
    "candidate_id": ["a", "b"],
    "rater_id": ["r", "r"],
}


@pytest.mark.parametrize("library", ["pandas", "polars", "lists"])
def test_rows_in_memory(library: str) -> None:
    columns = {**FRAME, "rating": [4.0, 2.5]}
    if library == "lists":
        source: Any = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
    else:
        source = pytest.importorskip(library).DataFrame(columns)
    with read_ratings(source) as table:
        batch = next(table.batches())
    assert (batch.prompt_ids, batch.candidate_ids) == (["1"], [["a", "b"]])
    assert batch.samples[0, 0].tolist() == [[4.0], [2.5]]
    with pytest.raises(TableError, match=r"line 1: .*candidate 'a'"):
        read_ratings([{**{k: v[0] for k, v in FRAME.items()}, "rating": None}])
    for wrong in ([], [1, 2]):
        with pytest.raises(InputError):
            read_ratings(wrong)


def test_a_folder_with_a_file_for_each_system(tmp_path: Path) -> None:
    for name, rating in (("big", 5), ("small", 3)):
        text = f"prompt_id,rater_id,rating\nq,ann,{rating}\nq,bob,{rating}\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    with read_ratings(tmp_path) as table:
        batch = next(table.batches())
        assert batch.candidate_ids == [["big", "small"]]
        assert batch.samples[0, 0].tolist() == [[5.0, 5.0], [3.0, 3.0]]
    (tmp_path / "small.csv").write_text("prompt_id,rater_id,rating\nq,ann,x\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"small\.csv, line 2: 'x'"):
        read_ratings(tmp_path)
    (tmp_path / "small.csv").write_text("prompt_id,rater,rating\nq,ann,1\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"not the columns of big\.csv"):
        read_ratings(tmp_path)
