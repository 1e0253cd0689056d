"""What is shown: responses of systems to rate or to compare, and checks with their answers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError, TableError, UnknownName
from darc.files import field_of, read_entries
from darc.runs.folder import RunFolder
from darc.study.schema import OUTCOMES
from darc.study.settings import SCALE, ItemSettings, StudySettings
from darc.web.keys import hash_token

LONGEST = 100_000
# What a spreadsheet takes for a formula where a cell begins with it, and what is only a number.
FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")

READ = "To show that this answer was read to its end, please {what}, whatever you think of it."
RATE, PREFER = "give it the rating {value}", "choose it as the better one"

Turns = tuple[tuple[str, str], ...]
Row = tuple[int | None, str, Turns, str, str]


@dataclass
class PromptItem:
    """A prompt: its turns as (role, text), and the response of each system."""

    id: str
    turns: Turns
    responses: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unit:
    """A response (`first`), or a pair with `second`; ids are candidates', "" in checks.

    `kind` is item, attention, gold, training or calibration. `reference` is the expected rating, or
    winner as 0 first, 1 second, 0.5 tie.
    """

    kind: str
    prompt_id: str
    turns: Turns
    first_id: str
    first: str
    second_id: str = ""
    second: str = ""
    reference: float | None = None
    tolerance: float = 0.0
    rationale: str = ""


def study_units(config: StudySettings) -> tuple[list[Unit], list[Unit]]:
    """The items and the checks of a study, read from its files."""
    items = item_units(config, read_items(config.items))
    return items, check_units(config, items)


def read_items(items: ItemSettings) -> list[PromptItem]:
    """The prompts of all files in order; a system that answers a prompt twice is refused."""
    prompts: dict[str, PromptItem] = {}
    alpaca = partial(_lines, alpaca=True)
    for names, read in ((items.jsonl, _lines), (items.run, _run), (items.alpaca, alpaca)):
        for name in names:
            for line, prompt_id, turns, system, text in read(Path(name)):
                prompt = prompts.setdefault(prompt_id, PromptItem(prompt_id, turns))
                if refused := _refused(prompt, turns, system, text):
                    raise TableError(name, *refused, line)
                prompt.responses[system] = text
    if not prompts:
        raise InputError("the study has no items", "name files under [items] in study.toml")
    return list(prompts.values())


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run a text as a formula."""
    return FORMULA.match(text) is not None and NUMBER.fullmatch(text) is None


def _refused(prompt: PromptItem, turns: Turns, system: str, text: str) -> tuple[str, str] | None:
    """Why a system's answer to a prompt cannot be used, and what to do; None where it can."""
    for name in filter(is_formula, (prompt.id, system)):
        hint = "begin names of prompts and systems with a letter or a digit"
        return f"a spreadsheet would run the name {name!r} as a formula", hint
    if prompt.turns != turns:
        return f"prompt {prompt.id!r} has two texts", "use an id for one prompt"
    if system in prompt.responses:
        hint = "give each system one answer a prompt"
        return f"{system!r} answers prompt {prompt.id!r} twice", hint
    if not text.strip() or len(text) > LONGEST:
        hint = f"give 1 to {LONGEST} characters"
        return f"the answer of {system!r} to {prompt.id!r} is empty or too long", hint
    return None


def _lines(path: Path, alpaca: bool = False) -> Iterator[Row]:
    """Rows with `responses` by system, or with one response each.

    Of a system's outputs for alpaca_eval, prompts are the same where their instruction is.
    """
    for place, (line, row) in enumerate(read_entries(path), 1):
        if not isinstance(row, Mapping):
            raise TableError(str(path), "a line is no JSON object", "write one a line", line)
        turns = read_turns(path, row, line)
        usual, system = (hash_token(turns[-1][1])[:12], path.stem) if alpaca else (f"{place}", "")
        responses = row.get("responses") or [row]
        if isinstance(responses, list):
            rows = (each for each in responses if isinstance(each, Mapping))
            responses = {
                field_of(each, "candidate_id") or system: field_of(each, "response")
                for each in rows
            }
        if not isinstance(responses, Mapping) or not responses or not all(responses):
            raise TableError(
                str(path), "a line without responses", 'write "responses": {"system": "text"}', line
            )
        for name, text in responses.items():
            yield line, field_of(row, "prompt_id") or usual, turns, str(name), str(text)


def _run(path: Path) -> Iterator[Row]:
    """The candidates of a run, named by their index as `darc export` names them."""
    for prompt, candidate in RunFolder(path).candidates():
        turns = tuple((message.role, message.content) for message in prompt.messages)
        yield None, prompt.id, turns, str(candidate.index), candidate.text


def read_turns(path: Path, row: Mapping[str, Any], line: int | None) -> Turns:
    """A conversation from `messages`, or the one turn of a prompt."""
    messages = row.get("messages")
    if isinstance(messages, list) and messages:
        if all(isinstance(m, Mapping) and isinstance(m.get("content"), str) for m in messages):
            return tuple((str(m.get("role", "user")), m["content"]) for m in messages)
    elif text := field_of(row, "prompt"):
        return (("user", text),)
    raise TableError(str(path), "a line without a prompt", "give prompt or messages", line)


def item_units(config: StudySettings, prompts: Sequence[PromptItem]) -> list[Unit]:
    """The units to be rated: every response, or the pairs of every prompt."""
    if not config.pairwise:
        return [
            Unit("item", each.id, each.turns, system, text)
            for each in prompts
            for system, text in each.responses.items()
        ]
    base = config.items.pairs
    systems = {system for each in prompts for system in each.responses}
    if base != "all" and base not in systems:
        raise UnknownName("system", base, systems, " in items.pairs")
    units = [
        Unit("item", each.id, each.turns, *one, *two)
        for each in prompts
        for one, two in combinations(each.responses.items(), 2)
        if base in ("all", one[0], two[0])
    ]
    if not units:
        raise InputError("no prompt has two responses to compare", "give responses of two systems")
    return units


def check_units(config: StudySettings, items: Sequence[Unit]) -> list[Unit]:
    """Attention, gold, training and calibration units, in that order."""
    quality, training = config.quality, config.training
    units = []
    if quality.attention == "auto":
        units += made_attention(config, items) if quality.share else []
    elif quality.attention:
        units += read_checks(Path(quality.attention), "attention", config, 0.0)
    files = {"gold": quality.gold, "training": training.training}
    for kind, name in {**files, "calibration": training.calibration}.items():
        if name:
            units += read_checks(Path(name), kind, config, quality.tolerance)
    return units


def made_attention(config: StudySettings, items: Sequence[Unit]) -> list[Unit]:
    """Real responses whose last sentence asks for a certain answer, drawn by the seed."""
    draw = np.random.default_rng([config.study.seed, 4])
    blocks = len(items) * config.quality.share / (1 - config.quality.share)
    count = min(len(items), max(4, int(np.ceil(blocks / (2 if config.quality.gold else 1)))))
    units = []
    for chosen in draw.choice(len(items), count, replace=False).tolist():
        base = items[chosen]
        value = int(draw.integers(SCALE[0], SCALE[1] + 1))
        place = value % 2 if config.pairwise else 0
        what = PREFER if config.pairwise else RATE.format(value=value)
        texts = [base.first, base.second]
        texts[place] += f"\n\n{READ.format(what=what)}"
        reference = float(place if config.pairwise else value)
        units.append(Unit("attention", "", base.turns, "", texts[0], "", texts[1], reference))
    return units


def read_checks(path: Path, kind: str, config: StudySettings, tolerance: float) -> list[Unit]:
    """The units of a file of JSON lines: prompt, response (or first and second), reference."""
    names = ("first", "second") if config.pairwise else ("response",)
    units = []
    for line, row in read_entries(path):
        if not isinstance(row, Mapping) or not all(
            isinstance(row.get(name), str) and 0 < len(row[name]) <= LONGEST for name in names
        ):
            raise TableError(str(path), f"a line without {' or '.join(names)}", "add it", line)
        given, value = row.get("reference"), None
        if config.pairwise:
            value = OUTCOMES.get(given) if isinstance(given, str) else None
        elif isinstance(given, int | float) and SCALE[0] <= given <= SCALE[1]:
            value = float(given)
        if value is None:
            hint = "first, second or tie" if config.pairwise else "a number from 0 to 10"
            raise TableError(str(path), f"the reference is {given!r}", f"give {hint}", line)
        usual = 0.0 if config.pairwise else tolerance
        first, second = (*(row[name] for name in names), "")[:2]
        given = value, float(row.get("tolerance", usual)), str(row.get("rationale") or "")
        units.append(Unit(kind, "", read_turns(path, row, line), "", first, "", second, *given))
    if not units:
        raise TableError(str(path), "there are no items", "give one JSON object a line")
    return units
