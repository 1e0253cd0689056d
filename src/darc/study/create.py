"""Making a study: its units, its plans and its secrets, in one transaction."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import insert

from darc.study import schema
from darc.study.config import Config
from darc.study.items import read_items
from darc.study.log import note
from darc.study.people import add_annotators
from darc.study.store import Store
from darc.study.tokens import make_token
from darc.study.units import Unit, check_units, item_units


def study_units(config: Config) -> tuple[list[Unit], list[Unit]]:
    """The items and the checks of a study, read from its files."""
    items = item_units(config, read_items(config.items))
    return items, check_units(config, items)


def create(
    store: Store, config: Config, items: Sequence[Unit], checks: Sequence[Unit]
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
