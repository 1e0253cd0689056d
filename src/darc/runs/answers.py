"""Answers that the user brings."""

from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.tables.entries import read_entries
from darc.types import Candidate

TEXTS = ("text", "answer", "response", "output", "content")


def read_answers(path: Path, prompt_id: str) -> list[Candidate]:
    """The candidates of a file: a JSON list, JSON lines, or one text a line.

    An entry is a text, or an object with one of text, answer, response, output or content.
    """
    entries = read_entries(path)
    if not entries:
        raise TableError(str(path), "there are no answers", "give one a line")
    return [
        Candidate(prompt_id, index, _text(path, entry, line))
        for index, (line, entry) in enumerate(entries)
    ]


def _text(path: Path, entry: Any, line: int | None) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in TEXTS if isinstance(entry.get(key), str)), None)
    if not isinstance(entry, str) or not entry.strip():
        raise TableError(
            str(path), "an answer has no text", f"give a text, or one of {', '.join(TEXTS)}", line
        )
    return entry
