import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darc.errors import TableError
from darc.tables.delimited import delimited_frames, sniff_delimiter
from darc.tables.source import Source

repeatable = settings(derandomize=True, max_examples=150, deadline=None, database=None)


def rows_of(text: str, size: int) -> tuple[list[tuple[str, ...]], list[int]]:
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    source = Source("x.csv", io.BytesIO(text.encode("utf-8")))
    for frame in delimited_frames(source, None, size):
        rows += zip(*(frame.texts(name) for name in frame.names), strict=True)
        lines += frame.lines.tolist()
    return rows, lines


cell = st.text(st.sampled_from('ab é,"\n;'), max_size=5)


@repeatable
@given(st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=20), st.integers(1, 60))
def test_rows_and_lines_do_not_depend_on_blocks(
    table: list[tuple[str, str, str]], size: int
) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([("x", "y", "z"), *table])
    starts, line = [], 2
    for row in table:
        starts.append(line)
        line += 1 + sum(cell.count("\n") for cell in row)
    assert rows_of(stream.getvalue(), size) == (table, starts)


@pytest.mark.parametrize("size", [*range(1, 40), 1000])
def test_a_quoted_newline_across_the_edge_of_blocks(size: int) -> None:
    text = 'x,"y\n1"\r\na,b\r\n"c\n\nd","e"\r\n\r\n"f","g ""h"""\r\ni,5" disk\r\n'
    rows, lines = rows_of(text, size)
    assert rows == [("a", "b"), ("c\n\nd", "e"), ("f", 'g "h"'), ("i", '5" disk')]
    assert lines == [3, 4, 8, 9]


def test_a_quote_that_is_never_closed_is_found_before_the_file_is_read() -> None:
    source = Source("x.csv", io.BytesIO(b'x,y\na,b\n"c,d\n' + b"e,f\n" * 1_000_000))
    with pytest.raises(TableError, match="line 3: a quoted field is never closed"):
        list(delimited_frames(source, None, 1000))
    assert source.done < 300_000


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [("a,b", ","), ("a;b", ";"), ("a\tb", "\t"), ("a", ","), ('"a;b;c",d', ","), ("a,b;c;d", ";")],
)
def test_the_delimiter_is_sniffed_from_the_header(header: str, delimiter: str) -> None:
    assert sniff_delimiter(header) == delimiter
