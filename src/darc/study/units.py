"""What is shown: one response to rate, or two to compare, with the answer expected of checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError, TableError, UnknownName
from darc.study.config import SCALE, Config
from darc.study.items import LONGEST, Prompt, Turn, read_turns
from darc.tables.entries import read_entries

WINNERS = ("first", "second", "tie")
ATTENTION = (
    "To show that this answer was read to its end, please give it the rating {value}, "
    "whatever you think of it."
)
PREFER = (
    "To show that this answer was read to its end, please choose it as the better one, "
    "whatever you think of it."
)


@dataclass(frozen=True)
class Unit:
    """A response (`first`), or a pair with `second`; ids are candidates', "" in checks.

    `kind` is item, attention, gold, training or calibration. `reference` is the expected rating, or
    winner as 0 first, 1 second, 0.5 tie.
    """

    kind: str
    prompt_id: str
    turns: tuple[Turn, ...]
    first_id: str
    first: str
    second_id: str = ""
    second: str = ""
    reference: float | None = None
    tolerance: float = 0.0
    rationale: str = ""


OUTCOMES = {"first": 0.0, "second": 1.0, "tie": 0.5}


def item_units(config: Config, prompts: Sequence[Prompt]) -> list[Unit]:
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
    units = []
    for each in prompts:
        for one, two in combinations(each.responses, 2):
            if base in ("all", one, two):
                texts = each.responses[one], each.responses[two]
                units.append(Unit("item", each.id, each.turns, one, texts[0], two, texts[1]))
    if not units:
        raise InputError("no prompt has two responses to compare", "give responses of two systems")
    return units


def check_units(config: Config, items: Sequence[Unit]) -> list[Unit]:
    """Attention, gold, training and calibration units, in that order."""
    quality, training = config.quality, config.training
    units = []
    if quality.attention == "auto" and quality.share:
        units += made_attention(config, items)
    elif quality.attention not in ("", "auto"):
        units += read_checks(Path(quality.attention), "attention", config, 0.0)
    for name, kind in (
        (quality.gold, "gold"),
        (training.training, "training"),
        (training.calibration, "calibration"),
    ):
        if name:
            units += read_checks(Path(name), kind, config, quality.tolerance)
    return units


def made_attention(config: Config, items: Sequence[Unit]) -> list[Unit]:
    """Real responses whose last sentence asks for a certain answer, drawn by the seed."""
    draw = np.random.default_rng([config.study.seed, 4])
    blocks = len(items) * config.quality.share / (1 - config.quality.share)
    count = min(len(items), max(4, int(np.ceil(blocks / (2 if config.quality.gold else 1)))))
    units = []
    for place in draw.choice(len(items), count, replace=False).tolist():
        base = items[place]
        value = int(draw.integers(SCALE[0], SCALE[1] + 1))
        if not config.pairwise:
            text = f"{base.first}\n\n{ATTENTION.format(value=value)}"
            units.append(Unit("attention", "", base.turns, "", text, reference=float(value)))
            continue
        texts = [base.first, base.second]
        texts[value % 2] += f"\n\n{PREFER}"
        second = value % 2 == 1
        units.append(Unit("attention", "", base.turns, "", texts[0], "", texts[1], float(second)))
    return units


def read_checks(path: Path, kind: str, config: Config, tolerance: float) -> list[Unit]:
    """The units of a file of JSON lines: prompt, response (or first and second), reference."""
    units = [
        _check(path, kind, row, line, config.pairwise, tolerance)
        for line, row in read_entries(path)
    ]
    if not units:
        raise TableError(str(path), "there are no items", "give one JSON object a line")
    return units


def _check(
    path: Path, kind: str, row: Any, line: int | None, pairwise: bool, tolerance: float
) -> Unit:
    names = ("first", "second") if pairwise else ("response",)
    if not isinstance(row, Mapping) or not all(
        isinstance(row.get(name), str) and 0 < len(row[name]) <= LONGEST for name in names
    ):
        raise TableError(str(path), f"a line without {' or '.join(names)}", "add it", line)
    reference = row.get("reference")
    if pairwise:
        if reference not in OUTCOMES:
            raise TableError(
                str(path), f"the reference is {reference!r}", "give first, second or tie", line
            )
        value = OUTCOMES[reference]
    elif isinstance(reference, int | float) and SCALE[0] <= reference <= SCALE[1]:
        value = float(reference)
    else:
        raise TableError(
            str(path), f"the reference is {reference!r}", "give a number from 0 to 10", line
        )
    return Unit(
        kind=kind,
        prompt_id="",
        turns=read_turns(path, row, line),
        first_id="",
        first=row[names[0]],
        second=row["second"] if pairwise else "",
        reference=value,
        tolerance=float(row.get("tolerance", 0.0 if pairwise else tolerance)),
        rationale=str(row.get("rationale") or ""),
    )
