"""Prompts with responses of several systems: JSON lines, run folders, alpaca_eval outputs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darc.errors import InputError, TableError
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.study.config import Items
from darc.tables.entries import read_entries

LONGEST = 100_000
NAMES = ("prompt_id", "id", "question_id")
PROMPTS = ("prompt", "instruction", "question")
SYSTEMS = ("candidate_id", "system", "generator", "model")
TEXTS = ("response", "output", "answer", "text")

# What a spreadsheet takes for a formula where a cell begins with it, and what is only a number.
FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")

Turn = tuple[str, str]


@dataclass
class Prompt:
    """A prompt: its turns as (role, text), and the response of each system."""

    id: str
    turns: tuple[Turn, ...]
    responses: dict[str, str] = field(default_factory=dict)


def read_items(items: Items) -> list[Prompt]:
    """The prompts of all files in order; a system that answers a prompt twice is refused."""
    prompts: dict[str, Prompt] = {}
    for name in items.jsonl:
        _gather(prompts, name, _lines(Path(name)))
    for name in items.run:
        _gather(prompts, name, _run(Path(name)))
    for name in items.alpaca:
        _gather(prompts, name, _alpaca(Path(name)))
    if not prompts:
        raise InputError("the study has no items", "name files under [items] in study.toml")
    return list(prompts.values())


Row = tuple[int | None, str, tuple[Turn, ...], str, str]


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run a text as a formula."""
    return FORMULA.match(text) is not None and NUMBER.fullmatch(text) is None


def _gather(prompts: dict[str, Prompt], source: str, rows: Iterator[Row]) -> None:
    for line, prompt_id, turns, system, text in rows:
        for name in (prompt_id, system):
            if is_formula(name):
                raise TableError(
                    source,
                    f"a spreadsheet would run the name {name!r} as a formula",
                    "begin names of prompts and systems with a letter or a digit",
                    line,
                )
        prompt = prompts.setdefault(prompt_id, Prompt(prompt_id, turns))
        if prompt.turns != turns:
            raise TableError(
                source, f"prompt {prompt_id!r} has two texts", "use an id for one prompt", line
            )
        if system in prompt.responses:
            raise TableError(
                source,
                f"{system!r} answers prompt {prompt_id!r} twice",
                "give each system one answer a prompt",
                line,
            )
        if not text.strip() or len(text) > LONGEST:
            raise TableError(
                source,
                f"the answer of {system!r} to {prompt_id!r} is empty or too long",
                f"give 1 to {LONGEST} characters",
                line,
            )
        prompt.responses[system] = text


def _lines(path: Path) -> Iterator[Row]:
    """Rows with `responses` by system, or with one response each."""
    for place, (line, row) in enumerate(read_entries(path)):
        if not isinstance(row, Mapping):
            raise TableError(str(path), "a line is no JSON object", "write one a line", line)
        turns = read_turns(path, row, line)
        prompt_id = _first(row, NAMES) or f"{place + 1}"
        responses = row.get("responses")
        if isinstance(responses, list):
            responses = {
                _first(each, SYSTEMS): _first(each, TEXTS)
                for each in responses
                if isinstance(each, Mapping)
            }
        elif responses is None:
            responses = {_first(row, SYSTEMS): _first(row, TEXTS)}
        if not isinstance(responses, Mapping) or not responses or not all(responses):
            raise TableError(
                str(path), "a line without responses", 'write "responses": {"system": "text"}', line
            )
        for system, text in responses.items():
            yield line, prompt_id, turns, str(system), str(text)


def _run(path: Path) -> Iterator[Row]:
    """The candidates of a run, named by their index as `darc export` names them."""
    for shard in RunFolder(path).shards():
        for prompt_id in shard.rows("candidates.jsonl"):
            messages = records.read_prompt(shard, prompt_id).messages
            turns = tuple((message.role, message.content) for message in messages)
            for candidate in records.read_candidates(shard, prompt_id):
                yield None, prompt_id, turns, str(candidate.index), candidate.text


def _alpaca(path: Path) -> Iterator[Row]:
    """A system's outputs; prompts of several files are the same where their instruction is."""
    for line, row in read_entries(path):
        if not isinstance(row, Mapping) or not isinstance(row.get("instruction"), str):
            raise TableError(
                str(path), "an entry without instruction", "give alpaca_eval outputs", line
            )
        prompt_id = _first(row, NAMES) or _digest(row["instruction"])
        turns = (("user", row["instruction"]),)
        yield line, prompt_id, turns, str(row.get("generator") or path.stem), str(row["output"])


def read_turns(path: Path, row: Mapping[str, Any], line: int | None) -> tuple[Turn, ...]:
    """A conversation from `messages`, or the one turn of a prompt."""
    messages = row.get("messages")
    if isinstance(messages, list) and messages:
        if all(isinstance(m, Mapping) and isinstance(m.get("content"), str) for m in messages):
            return tuple((str(m.get("role", "user")), m["content"]) for m in messages)
    elif text := _first(row, PROMPTS):
        return (("user", text),)
    raise TableError(str(path), "a line without a prompt", "give prompt or messages", line)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of some fields that is there, as text."""
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), "")


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:12]
