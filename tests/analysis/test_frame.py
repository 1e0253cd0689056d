import csv
import io
from pathlib import Path

import numpy as np
import pytest

from darc.analysis.frame import Frame, cell_text, joined, write_frames
from darc.errors import InputError, UnknownName

FRAME = Frame.of(
    "demo",
    "A title",
    [{"name": "a_b & 50%", "value": np.float64(1 / 3)}, {"name": "x|y", "value": np.nan}],
    "n.",
)


def test_csv_keeps_the_numbers() -> None:
    rows = list(csv.reader(io.StringIO(FRAME.csv())))
    assert rows[0] == ["name", "value"]
    assert float(rows[1][1]) == pytest.approx(1 / 3, abs=1e-9)
    assert rows[2] == ["x|y", ""]


def test_markdown_and_latex_escape() -> None:
    assert "| x\\|y | - |" in FRAME.markdown()
    assert "0.333" in FRAME.markdown(3)
    assert r"a\_b \& 50\% & 0.333 \\" in FRAME.latex()
    assert "\\begin{tabular}{lr}" in FRAME.latex()


def test_small_numbers_do_not_become_zero() -> None:
    assert cell_text(2.6e-29) == "2.6e-29"
    assert cell_text(0.0) == "0.000"
    assert cell_text(None) == "-"


def test_where_and_records() -> None:
    assert FRAME.where(name="x|y").records() == [{"name": "x|y", "value": None}]
    with pytest.raises(UnknownName):
        FRAME.column("valu")


def test_ragged_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="demo"):
        Frame.of("demo", "", [{"a": 1, "b": 2}, {"a": 1}])


def test_frames_of_one_name_are_joined() -> None:
    (both,) = joined([FRAME, FRAME])
    assert len(both) == 4
    assert both.note == "n."


def test_a_column_that_one_source_lacks_is_empty_in_its_rows() -> None:
    (both,) = joined([Frame.of("demo", "", [{"name": "x"}]), FRAME])
    assert both.columns == FRAME.columns
    assert both.records()[0] == {"name": "x", "value": None}
    assert both.records()[1:] == FRAME.records()


def test_files(tmp_path: Path) -> None:
    paths = write_frames([FRAME], tmp_path / "new" / "folder")
    assert sorted(path.name for path in paths) == ["demo.csv", "demo.md", "demo.tex"]
    assert (tmp_path / "new" / "folder" / "demo.csv").read_text(encoding="utf-8") == FRAME.csv()
    (tmp_path / "file").touch()
    with pytest.raises(InputError):
        write_frames([FRAME], tmp_path / "file")
