"""Answers that a user gives to choose from, read from files."""

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darc.entries import output_files, read_entries
from darc.errors import TableError
from darc.field_names import ANSWER_NAME, ANSWER_TEXT
from darc.types import Candidate

# Files that may be one answer as a whole.
_PLAIN_SUFFIXES = ("", ".txt", ".md")


@dataclass(frozen=True)
class _NamedText:
    """An answer; its name may be empty."""

    name: str
    text: str


def read_answers(
    paths: Sequence[Path], prompt_id: str, texts: Sequence[str] = (), question: str = ""
) -> list[Candidate]:
    """Read the candidates of some files.

    A file is a JSON list, JSON lines, CSV with a header, or text with one answer per line; "-" is
    standard input. An entry is a text, or an object with one of text, answer, response, output or
    content, and perhaps a name, system or model. Where there are several text files, each is one
    answer as a whole. A file with one answer gives it its name.

    Args:
        paths: Files and folders of files. In a folder of systems' answers to many prompts, those to
            the question count.
        prompt_id: The prompt that the candidates answer.
        texts: Further answers, which come first.
        question: The question.

    Returns:
        The candidates, numbered in their order.

    Raises:
        TableError: If a file cannot be used.
    """
    answers = [_NamedText("", text) for text in texts]
    file_paths: list[Path] = []
    for path in paths:
        if not path.is_dir():
            file_paths.append(path)
        elif all(file.suffix.lower() in _PLAIN_SUFFIXES for file in output_files(path)):
            file_paths += output_files(path)
        else:
            answers += _read_answers_to(path, question)
    several_files = len(file_paths) > 1
    for path in file_paths:
        answers += _read_file(path, several_files)
    candidates = []
    for index, answer in enumerate(answers):
        candidates.append(Candidate(prompt_id, index, answer.text, name=answer.name))
    return candidates


def _read_answers_to(folder: Path, question: str) -> list[_NamedText]:
    """The answers of a folder to a question, or all of them if none names its prompt."""
    rows = [row for _, row in read_entries(folder)]
    prompts = {row["prompt"].strip() for row in rows} - {""}
    if prompts and question.strip() not in prompts:
        raise TableError(
            str(folder),
            f"no file has an answer to {question!r}",
            f"ask what they answer, such as {min(prompts)!r}, or use darc run --prompts {folder}",
        )
    if prompts:
        rows = [row for row in rows if row["prompt"].strip() == question.strip()]
    return [_NamedText(row["candidate_id"], row["response"]) for row in rows]


def _read_file(path: Path, several_files: bool) -> list[_NamedText]:
    """The answers of a file; where there are several files, a plain text is one answer."""
    try:
        entries = _entries(path, several_files)
        answers = [_parse_answer(path, line, entry) for line, entry in entries]
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise TableError(str(path), "it is not UTF-8", "save it as UTF-8") from None
    if not answers:
        raise TableError(str(path), "there are no answers", "give one per line")
    if several_files and len(answers) == 1 and not answers[0].name:
        return [_NamedText(path.stem, answers[0].text)]
    return answers


def _entries(path: Path, several_files: bool) -> Iterable[tuple[int | None, Any]]:
    """The entries of a file, each with its line where it has one."""
    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            # The header is line 1.
            return list(enumerate(csv.DictReader(file), 2))
    if several_files and path.suffix.lower() in _PLAIN_SUFFIXES:
        return [(None, path.read_text(encoding="utf-8").strip())]
    if str(path) == "-":
        return read_entries(path, (line.encode() for line in sys.stdin))
    return read_entries(path)


def _parse_answer(path: Path, line: int | None, entry: Any) -> _NamedText:
    if not isinstance(entry, dict):
        entry = {"text": entry}
    names = [str(entry[field]) for field in ANSWER_NAME if entry.get(field)]
    texts = [entry[field] for field in ANSWER_TEXT if isinstance(entry.get(field), str)]
    if not texts or not texts[0].strip():
        hint = f"give a text, or one of {', '.join(ANSWER_TEXT)}"
        raise TableError(str(path), "an answer has no text", hint, line)
    name = names[0] if names else ""
    return _NamedText(name, texts[0])
