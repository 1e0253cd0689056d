"""The cells of a workbook's first sheet, read in a child process with bounded memory.

A workbook of a few kilobytes can claim any size: one cell in the last row and column makes a table
of 17 thousand million cells.
"""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from darc.errors import TableError, extra_needed
from darc.ratings import spreadsheet_child
from darc.ratings.plain_files import LONGEST_LINE, PlainFile

#: How much memory a workbook may take, in bytes.
MAX_MEMORY = 2 * 2**30
#: How large the parts of a workbook may be once they are unpacked, in bytes.
MAX_UNPACKED = 2**30
_MAX_SECONDS = 120
_SAVE_AGAIN = "save it again"
_SMALLER = "save the ratings alone as CSV"


def sheet_rows(file: PlainFile) -> Iterator[list[Any]]:
    """Read the rows of the first sheet of a workbook.

    Args:
        file: The workbook.

    Yields:
        The cells of each row, from the first row of the sheet on: texts, numbers and truth values.

    Raises:
        TableError: It is not a spreadsheet, or takes too much memory.
        MissingExtra: The library that reads spreadsheets is not installed.
    """
    with extra_needed("reading a spreadsheet", "excel"):
        import python_calamine  # noqa: F401
    _check_size(file)
    command = [sys.executable, "-P", str(spreadsheet_child.__file__), str(file.path)]
    command += [str(MAX_MEMORY), str(_MAX_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            assert child.stderr is not None
            yield from _parsed_lines(file, child.stdout)
            reason = child.stderr.read(2_000).decode(errors="replace")
            code = child.wait()
        finally:
            child.kill()
    if code == spreadsheet_child.NOT_A_SPREADSHEET:
        message = f"it is not a spreadsheet ({reason.strip()})"
        raise TableError(file.name, message, _SAVE_AGAIN)
    if code != 0:
        raise _too_large(file)


def _parsed_lines(file: PlainFile, output: IO[bytes]) -> Iterator[list[Any]]:
    line = output.readline(LONGEST_LINE)
    while line:
        if not line.endswith(b"\n"):
            message = f"a row of the first sheet is longer than {LONGEST_LINE >> 20} MB"
            raise TableError(file.name, message, "is this a file of ratings?")
        yield json.loads(line)
        line = output.readline(LONGEST_LINE)


def _check_size(file: PlainFile) -> None:
    """Refuse a workbook whose parts say that they are too large."""
    size = Path(file.path).stat().st_size
    with suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(file.path) as archive:
        size = max(size, sum(part.file_size for part in archive.infolist()))
    if size > MAX_UNPACKED:
        raise _too_large(file)


def _too_large(file: PlainFile) -> TableError:
    message = (
        "the first sheet is too large to read: it has a cell far below or beside the table, or "
        "very long texts"
    )
    return TableError(file.name, message, _SMALLER)
