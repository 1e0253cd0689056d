"""Workbooks that claim to be huge, or are damaged."""

import resource
import zipfile
from pathlib import Path

import pytest

from darc.errors import TableError
from darc.ratings import read_ratings

pytest.importorskip("python_calamine")
openpyxl = pytest.importorskip("openpyxl")

MEGABYTE = 2**20


def workbook(path: Path, cells: dict[str, object]) -> Path:
    book = openpyxl.Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)
    return path


def tidy_cells() -> dict[str, object]:
    rows = [("prompt_id", "candidate_id", "rater_id", "rating"), ("p", "a", "r", 1)]
    return {f"{'ABCD'[i]}{n}": row[i] for n, row in enumerate(rows, 1) for i in range(4)}


@pytest.mark.parametrize("place", ["XFD1048576", "CV1048576"])
def test_a_cell_far_away_is_refused_in_bounded_memory(place: str, tmp_path: Path) -> None:
    path = workbook(tmp_path / "far.xlsx", {**tidy_cells(), place: 1})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TableError, match=r"far\.xlsx: the first sheet is too large"):
        read_ratings(path)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) * 1024 < 200 * MEGABYTE


@pytest.mark.parametrize("honest", [True, False])
def test_two_gigabytes_in_a_cell_are_refused(honest: bool, tmp_path: Path) -> None:
    path = workbook(tmp_path / "long.xlsx", tidy_cells())
    huge = tmp_path / "huge.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(huge, "w", 8, compresslevel=1) as target:
        for name in source.namelist():
            data = source.read(name)
            if name != "xl/worksheets/sheet1.xml":
                target.writestr(name, data)
                continue
            start, end = data.split(b"</sheetData>")
            with target.open(name, "w", force_zip64=True) as stream:
                stream.write(start + b'<row r="3"><c r="A3" t="inlineStr"><is><t>')
                for _ in range(2048 if honest else 1000):
                    stream.write(b"x" * MEGABYTE)
                stream.write(b"</t></is></c></row></sheetData>" + end)
    with pytest.raises(TableError, match=r"huge\.xlsx: (the|a row of the) first sheet"):
        read_ratings(huge)


def test_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", tidy_cells())
    data = path.read_bytes()
    for place in range(0, len(data), 400):
        path.write_bytes(data[:place] + bytes(40) + data[place + 40 :])
        try:
            read_ratings(path).close()
        except TableError as problem:
            assert str(problem).startswith(str(path))  # noqa: PT017
