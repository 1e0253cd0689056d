"""Making a study: filling a new database with its units and annotators."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import insert

from darc.study import schema
from darc.study.items import Unit
from darc.study.plan import add_annotators, make_token
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.study.waves import add_pilot, item_wants

_LABELS_STREAM = 6
_CODE_LENGTH = 10


def create(
    store: Store, config: StudySettings, items: Sequence[Unit], checks: Sequence[Unit]
) -> tuple[str, str]:
    """Fill a new store.

    Args:
        store: An empty store.
        config: The study's settings.
        items: The units to be rated.
        checks: The attention, gold, training and calibration units.

    Returns:
        The lead's token and the enrolment token, which are not stored.

    Raises:
        InputError: An adaptive study has nothing to choose between, or a budget below its pilot.
    """
    wants = item_wants(config, items)
    lead_token, lead_hash = make_token()
    enrol_token, enrol_hash = make_token()
    now = store.now()
    with store.write() as connection:
        schema.add_row(
            connection,
            schema.study,
            id=1,
            schema=schema.SCHEMA,
            config=config.model_dump(),
            created=now,
            lead_hash=lead_hash,
            enrol_hash=enrol_hash,
            completion_code=config.study.completion_code or _make_completion_code(),
        )
        connection.execute(
            insert(schema.units), _unit_rows(items, checks, wants, config.study.seed)
        )
        schema.note(connection, now, "study", "created", config.study.mode, f"{len(items)} items")
        if config.panel is not None:
            add_annotators(store, connection, config, config.panel)
        if config.is_adaptive:
            add_pilot(store, connection, wants)
    return lead_token, enrol_token


def _make_completion_code() -> str:
    token, _ = make_token()
    return token[:_CODE_LENGTH].upper().replace("_", "Q")


def _unit_rows(
    items: Sequence[Unit], checks: Sequence[Unit], wants: Sequence[int], seed: int
) -> list[dict[str, Any]]:
    """The rows of the units; the lead's labels of items are numbered in a random order."""
    random = np.random.default_rng([seed, _LABELS_STREAM])
    item_labels = random.permutation(len(items)) + 1
    kind_counts: Counter[str] = Counter()
    rows = []
    for unit in (*items, *checks):
        number = kind_counts[unit.kind]
        kind_counts[unit.kind] += 1
        label = number + 1
        wanted = 0
        if unit.kind == "item":
            label = item_labels[number]
            wanted = wants[number]
        row = {"number": number, "label": f"{unit.kind} {label}", "wanted": wanted}
        rows.append({**row, **asdict(unit)})
    return rows
