"""The entries of a file: a JSON list, JSON lines, or one text a line; of a folder, its answers."""

import csv
import gzip
import hashlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from darc.errors import TableError
from darc.files import parse_json

Entry = tuple[int | None, Any]

# What answers of other tools call the fields of a row, the first that is there.
FIELDS = {
    "prompt_id": ("prompt_id", "question_id", "id"),
    "candidate_id": ("candidate_id", "system", "generator", "model"),
    "prompt": ("prompt", "instruction", "question", "input"),
    "response": ("response", "output", "answer", "completion", "text", "content"),
}


def read_entries(path: Path) -> list[Entry]:
    """Each entry with its line, None within a JSON list."""
    return list(iter_entries(path))


def iter_entries(path: Path) -> Iterator[Entry]:
    """The entries one after the other; only a JSON list is read as a whole.

    A folder is one of answers, a file for each system: see `_outputs`.
    """
    if path.is_dir():
        yield from _outputs(path)
        return
    try:
        with (
            gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file,
            # Not str.splitlines, which also ends a line at characters that JSON may have in a text.
            io.TextIOWrapper(file, encoding="utf-8-sig", newline=None) as text,
        ):
            yield from entries_of(path, text)
    except (gzip.BadGzipFile, EOFError):
        raise TableError(str(path), "it is no gzip file", "unpack or rename it") from None
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise TableError(str(path), "it is not UTF-8", "save it as UTF-8") from None


def entries_of(path: Path, text: TextIO) -> Iterator[Entry]:
    """The entries of an open file, which errors call by `path`."""
    start = ""
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        start = start or line.lstrip()[:1]
        if start == "[":
            whole = "\n" * (number - 1) + line + text.read()
            yield from ((None, entry) for entry in parse_json(whole, str(path)))
        elif start in ("{", '"'):
            yield number, parse_json(line.rstrip("\n"), str(path), number)
        else:
            yield number, line.strip()


def output_files(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names, hidden ones left out."""
    found = sorted(each for each in folder.iterdir() if each.is_file() and each.name[0] != ".")
    if not found:
        raise TableError(str(folder), "the folder has no files", "put a system's answers into each")
    return found


def _outputs(folder: Path) -> Iterator[Entry]:
    """The answers of a folder: prompt_id, candidate_id, prompt and response of each.

    A system without a name of its own is called by its file. Answers belong to one prompt by their
    id, else by the prompt's text, else by their place in the file.
    """
    for path in output_files(folder):
        for place, (line, row) in enumerate(_rows(path), 1):
            known = {"response": row} if isinstance(row, str) else row
            if not isinstance(known, Mapping):
                raise TableError(str(path), "an answer is no object", "write {...}", line)
            made = {
                name: next((str(known[key]) for key in keys if known.get(key)), "")
                for name, keys in FIELDS.items()
            }
            if not made["response"]:
                hint = f"give one of {', '.join(FIELDS['response'])}"
                raise TableError(str(path), "an answer has no text", hint, line)
            text = made["prompt"].encode("utf-8", "surrogatepass")
            usual = hashlib.sha256(text).hexdigest()[:12] if text else str(place)
            made["prompt_id"] = made["prompt_id"] or usual
            made["candidate_id"] = made["candidate_id"] or path.name.split(".")[0]
            yield line, made


def _rows(path: Path) -> Iterator[Entry]:
    if path.suffix.lower() != ".csv":
        yield from iter_entries(path)
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from enumerate(csv.DictReader(file), 2)
