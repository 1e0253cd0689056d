"""Prints the first sheet of a workbook as JSON lines; run as a script, with bounded memory.

It imports nothing of DARC, so that it starts quickly. `darc.ratings.spreadsheets` runs it.
"""

import io
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

#: The exit codes for a file that is not a spreadsheet, and for one that takes too much memory.
NOT_A_SPREADSHEET = 3
TOO_LARGE = 4


def _limit_memory(bytes_: int, seconds: int) -> None:
    """Let this process end itself rather than use up the machine, where the system can."""
    try:
        import resource
    except ImportError:
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _plain(value: Any) -> Any:
    """A cell as JSON can hold it; dates and times become text."""
    if isinstance(value, str | bool | int | float):
        return value
    if value is None:
        return ""
    return str(value)


def main(path: str, memory: str, seconds: str) -> int:
    """Print the rows of the first sheet, a JSON list per line.

    Args:
        path: The workbook.
        memory: How many bytes of memory this process may use.
        seconds: How many seconds of processor time it may use.

    Returns:
        The exit code; the reason of a failure is on standard error.
    """
    _limit_memory(int(memory), int(seconds))
    try:
        import python_calamine

        content = io.BytesIO(Path(path).read_bytes())
        book = python_calamine.CalamineWorkbook.from_filelike(content)
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except MemoryError:
        return TOO_LARGE
    except Exception as problem:
        print(problem, file=sys.stderr)
        return NOT_A_SPREADSHEET
    for row in rows:
        print(json.dumps([_plain(value) for value in row]))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
