"""The items of a study: responses of systems to rate or to compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from darc.entries import field_of, read_entries
from darc.errors import InputError, TableError, UnknownName
from darc.runs.folder import RunFolder
from darc.study.settings import ItemSettings, StudySettings
from darc.study.spreadsheets import is_formula
from darc.web.keys import hash_token

MAX_TEXT_LENGTH = 100_000

#: A conversation as (role, text) pairs.
Turns = tuple[tuple[str, str], ...]


@dataclass
class PromptItem:
    """A prompt and the response of each system."""

    id: str
    turns: Turns
    responses: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unit:
    """What is shown at once: a response, or a pair of responses."""

    #: item, attention, gold, training or calibration.
    kind: str
    prompt_id: str
    turns: Turns
    #: The candidate of the first response; empty in checks.
    first_id: str
    first: str
    #: The candidate of the second response of a pair.
    second_id: str = ""
    second: str = ""
    #: The expected rating, or the expected winner (0 first, 1 second, 0.5 tie).
    reference: float | None = None
    tolerance: float = 0.0
    #: Why the reference is right, for the feedback.
    rationale: str = ""


class _ResponseRow(NamedTuple):
    """One response of a file."""

    #: The line of the file, if it has lines.
    line: int | None
    prompt_id: str
    turns: Turns
    system: str
    text: str


def read_items(items: ItemSettings) -> list[PromptItem]:
    """Read the prompts and responses of all files.

    Args:
        items: The files.

    Returns:
        The prompts, in the order in which they first occur.

    Raises:
        TableError: A file cannot be used, or a system answers a prompt twice.
        InputError: There are no items.
    """
    prompts: dict[str, PromptItem] = {}
    for name in items.jsonl:
        _add_responses(prompts, name, _read_json_lines(Path(name)))
    for name in items.run:
        _add_responses(prompts, name, _read_run(Path(name)))
    for name in items.alpaca:
        _add_responses(prompts, name, _read_alpaca(Path(name)))
    if not prompts:
        raise InputError("the study has no items", "name files under [items] in study.toml")
    return list(prompts.values())


def _add_responses(prompts: dict[str, PromptItem], name: str, rows: Iterator[_ResponseRow]) -> None:
    """Add the responses of the file of this name to the prompts."""
    for row in rows:
        prompt = prompts.setdefault(row.prompt_id, PromptItem(row.prompt_id, row.turns))
        _check_response(name, prompt, row)
        prompt.responses[row.system] = row.text


def _check_response(name: str, prompt: PromptItem, row: _ResponseRow) -> None:
    """Raise why a response cannot be used, if so."""
    for identifier in (prompt.id, row.system):
        if is_formula(identifier):
            raise TableError(
                name,
                f"a spreadsheet would run the name {identifier!r} as a formula",
                "begin names of prompts and systems with a letter or a digit",
                row.line,
            )
    if prompt.turns != row.turns:
        problem = f"prompt {prompt.id!r} has two texts"
        raise TableError(name, problem, "use an id for one prompt", row.line)
    if row.system in prompt.responses:
        problem = f"{row.system!r} answers prompt {prompt.id!r} twice"
        raise TableError(name, problem, "give each system one answer per prompt", row.line)
    if not row.text.strip() or len(row.text) > MAX_TEXT_LENGTH:
        problem = f"the answer of {row.system!r} to {prompt.id!r} is empty or too long"
        raise TableError(name, problem, f"give 1 to {MAX_TEXT_LENGTH} characters", row.line)


def _read_json_lines(path: Path) -> Iterator[_ResponseRow]:
    """The responses of rows that are numbered unless they have an id."""
    for number, (line, row) in enumerate(_read_objects(path), 1):
        turns = read_turns(path, row, line)
        prompt_id = field_of(row, "prompt_id") or str(number)
        for system, text in _responses_of(path, row, line, default_system="").items():
            yield _ResponseRow(line, prompt_id, turns, str(system), str(text))


def _read_alpaca(path: Path) -> Iterator[_ResponseRow]:
    """The outputs of one system for alpaca_eval; rows of one instruction are of one prompt."""
    for line, row in _read_objects(path):
        turns = read_turns(path, row, line)
        instruction = turns[-1][1]
        prompt_id = field_of(row, "prompt_id") or hash_token(instruction)[:12]
        for system, text in _responses_of(path, row, line, default_system=path.stem).items():
            yield _ResponseRow(line, prompt_id, turns, str(system), str(text))


def _read_objects(path: Path) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """The rows of a file that are JSON objects, with their lines; others are refused."""
    for line, row in read_entries(path):
        if not isinstance(row, Mapping):
            raise TableError(
                str(path), "a line is not a JSON object", "write one object per line", line
            )
        yield line, row


def _responses_of(
    path: Path, row: Mapping[str, Any], line: int | None, default_system: str
) -> Mapping[Any, Any]:
    """The responses of a row by system: several under "responses", or the row's own."""
    responses = row.get("responses") or [row]
    if isinstance(responses, list):
        responses = {
            field_of(entry, "candidate_id") or default_system: field_of(entry, "response")
            for entry in responses
            if isinstance(entry, Mapping)
        }
    if not isinstance(responses, Mapping) or not responses or not all(responses):
        raise TableError(
            str(path), "a line without responses", 'write "responses": {"system": "text"}', line
        )
    return responses


def _read_run(path: Path) -> Iterator[_ResponseRow]:
    """The candidates of a run, named by their index as `darc export` names them."""
    for prompt, candidate in RunFolder(path).candidates():
        turns = tuple((message.role, message.content) for message in prompt.messages)
        yield _ResponseRow(None, prompt.id, turns, str(candidate.index), candidate.text)


def read_turns(path: Path, row: Mapping[str, Any], line: int | None) -> Turns:
    """Read the conversation of a row.

    Args:
        path: The file, for error messages.
        row: A row with `messages`, or with one prompt.
        line: Its line, for error messages.

    Returns:
        The turns.

    Raises:
        TableError: The row has neither.
    """
    messages = row.get("messages")
    if isinstance(messages, list) and messages:
        if all(_is_message(message) for message in messages):
            return tuple(
                (str(message.get("role", "user")), message["content"]) for message in messages
            )
    else:
        prompt = field_of(row, "prompt")
        if prompt:
            return (("user", prompt),)
    raise TableError(str(path), "a line without a prompt", "give prompt or messages", line)


def _is_message(message: Any) -> bool:
    return isinstance(message, Mapping) and isinstance(message.get("content"), str)


def item_units(config: StudySettings, prompts: Sequence[PromptItem]) -> list[Unit]:
    """Make the units to be rated: every response, or the pairs of every prompt.

    Args:
        config: The study's settings.
        prompts: The prompts.

    Returns:
        The units.

    Raises:
        UnknownName: There is no such system to compare with.
        InputError: No prompt has two responses.
    """
    if config.pairwise:
        return _pair_units(config.items.pairs, prompts)
    return [
        Unit("item", prompt.id, prompt.turns, system, text)
        for prompt in prompts
        for system, text in prompt.responses.items()
    ]


def _pair_units(baseline: str, prompts: Sequence[PromptItem]) -> list[Unit]:
    """The pairs of responses: all ("all"), or those with one system's response."""
    systems = {system for prompt in prompts for system in prompt.responses}
    if baseline != "all" and baseline not in systems:
        raise UnknownName("system", baseline, systems, " in items.pairs")
    units = []
    for prompt in prompts:
        for first, second in combinations(prompt.responses.items(), 2):
            if baseline in ("all", first[0], second[0]):
                units.append(Unit("item", prompt.id, prompt.turns, *first, *second))
    if not units:
        raise InputError("no prompt has two responses to compare", "give responses of two systems")
    return units
