"""A file that lists prompts by their ids."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darc.entries import read_entries
from darc.errors import TableError
from darc.field_names import QUESTION_ID


def read_prompt_ids(path: Path) -> frozenset[str]:
    """Read the prompt ids of a file.

    Args:
        path: A file with one id per line, JSON lines that have a prompt_id, or a JSON list of
            either. A first line that is the name of the column is no id.

    Returns:
        The ids.

    Raises:
        TableError: The file cannot be read, a line has no id, or there is none.
    """
    ids = []
    for place, (line, row) in enumerate(read_entries(path)):
        if place == 0 and row in QUESTION_ID:
            continue
        ids.append(_prompt_id(path, row, line))
    if not ids:
        raise TableError(str(path), "there are no prompt ids", "give one per line")
    return frozenset(ids)


def _prompt_id(path: Path, row: Any, line: int | None) -> str:
    if isinstance(row, Mapping):
        row = next((row[name] for name in QUESTION_ID if row.get(name) is not None), None)
    if isinstance(row, bool) or not isinstance(row, str | int):
        raise TableError(str(path), f"{row!r} is not a prompt id", "give one per line", line)
    return str(row)
