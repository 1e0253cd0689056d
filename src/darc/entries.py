"""The entries of files that users give: prompts or answers as JSON, JSON lines, CSV or text."""

import codecs
import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.field_names import OUTPUT_FIELDS
from darc.files import open_input
from darc.json_files import parse_json, parse_lines

#: An entry with the number of its line, where it has one of its own.
Entry = tuple[int | None, Any]

# How many characters of a prompt's hash are its id.
_ID_LENGTH = 12


def read_entries(path: Path, lines: Iterable[bytes] | None = None) -> Iterator[Entry]:
    """Read the entries of a JSON list, of JSON lines, or of text with one entry per line.

    Args:
        path: The file, or a folder with a file of answers for each system. The answers of a folder
            are objects with prompt_id, candidate_id, prompt and response.
        lines: Lines to read in place of the file.

    Yields:
        Each entry with its line. The entries of a JSON list, which is read as a whole, have none.

    Raises:
        TableError: If the file cannot be used.
    """
    if path.is_dir():
        yield from _read_folder(path)
        return
    source = nullcontext(lines) if lines is not None else open_input(path)
    with source as file:
        remaining_lines = iter(file)
        first_lines, first_character = _read_until_text(remaining_lines)
        all_lines = chain(first_lines, remaining_lines)
        if first_character == b"[":
            for entry in parse_json(b"".join(all_lines), str(path)):
                yield None, entry
        elif first_character in (b"{", b'"'):
            yield from parse_lines(all_lines, str(path))
        else:
            yield from _read_text_lines(path, all_lines)


def output_files(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names, without hidden ones.

    Raises:
        TableError: If there are none.
    """
    paths = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    if not paths:
        raise TableError(str(folder), "the folder has no files", "put a system's answers into each")
    return sorted(paths)


def field_of(row: Mapping[str, Any], name: str) -> str:
    """The value of a field under the first of its names that is there, as text; else empty."""
    for field_name in OUTPUT_FIELDS[name]:
        if row.get(field_name) not in (None, ""):
            return str(row[field_name])
    return ""


def _read_until_text(lines: Iterator[bytes]) -> tuple[list[bytes], bytes]:
    """The lines up to the first that is not blank, and its first character."""
    first_lines = []
    for line in lines:
        first_lines.append(line)
        first_character = line.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        if first_character:
            return first_lines, first_character
    return first_lines, b""


def _read_text_lines(path: Path, lines: Iterable[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise TableError(str(path), "it is not UTF-8", "save it as UTF-8", number) from None
        if text:
            yield number, text


def _read_folder(folder: Path) -> Iterator[Entry]:
    """The answers of a folder.

    A system without a name is called by its file. Answers belong to one prompt by their id, or else
    by the prompt's text, or else by their place in the file.
    """
    for path in output_files(folder):
        for place, (line, row) in enumerate(_read_output_file(path), 1):
            if isinstance(row, str):
                row = {"response": row}
            if not isinstance(row, Mapping):
                raise TableError(str(path), "an answer is not an object", "write {...}", line)
            answer = {name: field_of(row, name) for name in OUTPUT_FIELDS}
            if not answer["response"]:
                hint = f"give one of {', '.join(OUTPUT_FIELDS['response'])}"
                raise TableError(str(path), "an answer has no text", hint, line)
            if not answer["prompt_id"]:
                answer["prompt_id"] = _prompt_id(answer["prompt"]) or str(place)
            if not answer["candidate_id"]:
                answer["candidate_id"] = path.name.split(".")[0]
            yield line, answer


def _prompt_id(prompt: str) -> str:
    """An id that is made from a prompt's text; empty if there is none."""
    if not prompt:
        return ""
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]


def _read_output_file(path: Path) -> Iterator[Entry]:
    if path.suffix.lower() != ".csv":
        yield from read_entries(path)
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        # The header is line 1.
        yield from enumerate(csv.DictReader(file), 2)
