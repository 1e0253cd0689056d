"""Answers that the user brings."""

import json
from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.types import Candidate

TEXTS = ("text", "answer", "response", "output", "content")


def read_answers(path: Path, prompt_id: str) -> list[Candidate]:
    """The candidates of a file: a JSON list, JSON lines, or one text a line.

    An entry is a text, or an object with one of text, answer, response, output or content.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise TableError(str(path), "it is not UTF-8", "save it as UTF-8") from None
    start = text.lstrip()[:1]
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    entries: list[tuple[int | None, Any]]
    if start == "[":
        entries = [(None, entry) for entry in _loads(path, text, None)]
    elif start in ("{", '"'):
        entries = [(number, _loads(path, line, number)) for number, line in lines]
    else:
        entries = [(number, line.strip()) for number, line in lines]
    if not entries:
        raise TableError(str(path), "there are no answers", "give one a line")
    return [
        Candidate(prompt_id, index, _text(path, entry, line))
        for index, (line, entry) in enumerate(entries)
    ]


def _loads(path: Path, text: str, line: int | None) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        raise TableError(str(path), f"it is not valid JSON ({problem})", "mend it", line) from None


def _text(path: Path, entry: Any, line: int | None) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in TEXTS if isinstance(entry.get(key), str)), None)
    if not isinstance(entry, str) or not entry.strip():
        raise TableError(
            str(path), "an answer has no text", f"give a text, or one of {', '.join(TEXTS)}", line
        )
    return entry
