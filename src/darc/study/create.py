"""Making a study: its file, and its units, plans and secrets in one transaction."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import insert

from darc.study import schema
from darc.study.items import Unit, check_units, item_units, read_items
from darc.study.people import add_annotators, make_token
from darc.study.schema import note
from darc.study.settings import STUDIES, TEMPLATES, StudySettings
from darc.study.store import Store


def study_toml(
    items: Sequence[str], template: str, ratings: int, annotators: int | str, seed: int
) -> str:
    """A `study.toml` with the settings that most studies change."""
    title, mode, skip = STUDIES[template]
    options = json.dumps(skip)
    return f"""\
[study]
title = {json.dumps(title)}
mode = {json.dumps(mode)}         # scalar (0 to 10) or pairwise
tie = true                # pairwise: whether a tie may be chosen
comments = {options}          # whether an answer may have a remark
skip = {options}              # whether an item may be left to others
ratings = {ratings}               # valid ratings an item
annotators = {json.dumps(annotators)}            # a number of personal links, or "open"
items_each = 0            # the most that one annotator rates; 0: no cap
completion_code = ""      # shown at the end, for Prolific and the like
seed = {seed}

[items]
jsonl = {json.dumps(list(items), ensure_ascii=False)}

[quality]
share = 0.10              # of what is shown
attention = "auto"        # made from the items; or a file
gold = ""                 # a file of items with reference, such as gold.jsonl

[training]
training = ""             # files of items with reference and rationale
calibration = ""

{(TEMPLATES / f"{template}.toml").read_text(encoding="utf-8")}
# Questions about people, whose answers become groups of raters; "Prefer not to say" is added.
# [[groups]]
# name = "age"
# question = "How old are you?"
# choices = ["Under 30", "30 to 49", "50 or older"]
"""


def study_units(config: StudySettings) -> tuple[list[Unit], list[Unit]]:
    """The items and the checks of a study, read from its files."""
    items = item_units(config, read_items(config.items))
    return items, check_units(config, items)


def create(
    store: Store, config: StudySettings, items: Sequence[Unit], checks: Sequence[Unit]
) -> tuple[str, str]:
    """Fill a new store; the result is the lead's token and the enrolment token, never stored."""
    (lead, lead_hash), (enrol, enrol_hash) = make_token(), make_token()
    code = config.study.completion_code or make_token()[0][:10].upper().replace("_", "Q")
    now = store.now()
    with store.write() as connection:
        connection.execute(
            insert(schema.study).values(
                id=1,
                schema=schema.SCHEMA,
                config=config.plain(),
                created=now,
                lead_hash=lead_hash,
                enrol_hash=enrol_hash,
                completion_code=code,
            )
        )
        connection.execute(insert(schema.units), _rows(items, checks, config.study.seed))
        note(connection, now, "study", "created", config.study.mode, f"{len(items)} items")
        if config.panel is not None:
            add_annotators(store, connection, config, config.panel)
    return lead, enrol


def _rows(items: Sequence[Unit], checks: Sequence[Unit], seed: int) -> list[dict[str, Any]]:
    """Rows of units; the lead's labels of items are numbered in a random order."""
    shuffled = np.random.default_rng([seed, 6]).permutation(len(items)) + 1
    rows = [
        {"number": number, "label": f"item {shuffled[number]}", **asdict(unit)}
        for number, unit in enumerate(items)
    ]
    counts: dict[str, int] = {}
    for unit in checks:
        number = counts.get(unit.kind, 0)
        counts[unit.kind] = number + 1
        rows.append({"number": number, "label": f"{unit.kind} {number + 1}", **asdict(unit)})
    return rows
