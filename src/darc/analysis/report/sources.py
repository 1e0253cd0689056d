"""Which ratings and runs a report is about."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from darc.errors import InputError
from darc.files import atomic_writer
from darc.json_files import read_json

SOURCES = "sources.json"


def write_report_sources(paths: Sequence[Path], folder: Path) -> Path:
    """Write down where the sources of a report are, seen from its folder.

    Args:
        paths: The sources.
        folder: The folder of the report.

    Returns:
        The file.
    """
    base = folder.resolve()
    relative_paths = [Path(os.path.relpath(path.resolve(), base)).as_posix() for path in paths]
    file_path = folder / SOURCES
    with atomic_writer(file_path) as file:
        file.write(json.dumps({"sources": relative_paths}, ensure_ascii=False, indent=2) + "\n")
    return file_path


def read_report_sources(folder: Path) -> list[Path]:
    """Read where the sources of a report are.

    Args:
        folder: The folder of the report.

    Returns:
        The sources.

    Raises:
        InputError: If the report does not say, or one of them is not there any more.
    """
    file_path = folder / SOURCES
    hint = "make the report again with: darc eval --out, or name the ratings or the run itself"
    if not file_path.is_file():
        raise InputError(f"{folder} does not say which ratings it is about", hint)
    content = read_json(file_path, hint)
    names = content.get("sources") if isinstance(content, dict) else None
    if not names or not isinstance(names, list):
        raise InputError(f"{file_path} names no sources", hint)
    paths = [Path(os.path.normpath(folder / str(name))) for name in names]
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}, which {folder} is about, is not there", hint)
    return paths
