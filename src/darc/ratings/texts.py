"""The texts of candidates in a file beside their ratings."""

from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.json_files import json_lines

_TABLE_SUFFIXES = (
    ".gz",
    ".zst",
    ".csv",
    ".tsv",
    ".tab",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".pq",
    ".xlsx",
)


def stem(path: Path) -> str:
    """A file's name without the endings that tables have."""
    name = path.name
    while name.lower().endswith(_TABLE_SUFFIXES):
        name = name[: name.rfind(".")]
    return name or path.name


def texts_beside(path: Path) -> Path | None:
    """NAME.texts.jsonl or NAME.texts.jsonl.gz in the folder of the ratings, if there is one."""
    for suffix in ("", ".gz"):
        texts = path.with_name(f"{stem(path)}.texts.jsonl{suffix}")
        if texts.is_file():
            return texts
    return None


def read_texts(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Read the texts of prompts and candidates.

    Args:
        path: JSON lines with prompt_id, candidate_id, prompt and response.

    Returns:
        (prompt, response) by (prompt_id, candidate_id), "" for what is null or absent.

    Raises:
        TableError: A line has no ids.
    """
    texts = {}
    for line, row in json_lines(path, "write one JSON object per line"):
        key, pair = text_row(row, path, line)
        texts[key] = pair
    return texts


def text_row(row: Any, path: Path, line: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """Read one line of a file of texts.

    Args:
        row: The value of the line.
        path: The file, for errors.
        line: The number of the line, for errors.

    Returns:
        (prompt_id, candidate_id) and (prompt, response), "" for what is null or absent.

    Raises:
        TableError: It has no ids.
    """
    if not isinstance(row, dict) or "prompt_id" not in row or "candidate_id" not in row:
        raise TableError(
            str(path),
            "a line without prompt_id or candidate_id",
            "write prompt_id, candidate_id, prompt and response",
            line,
        )
    key = (str(row["prompt_id"]), str(row["candidate_id"]))
    return key, (str(row.get("prompt") or ""), str(row.get("response") or ""))
