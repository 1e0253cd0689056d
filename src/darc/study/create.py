"""Making a study: its file, and its units, plans and secrets in one transaction."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from markupsafe import Markup
from sqlalchemy import insert

from darc.study import schema
from darc.study.items import Unit, check_units, item_units, read_items
from darc.study.people import add_annotators, make_token
from darc.study.schema import note
from darc.study.settings import STUDIES, TEMPLATES, StudySettings
from darc.study.store import Store
from darc.views.html import environment


def study_toml(
    items: Sequence[str], template: str, ratings: int, annotators: int | str, seed: int
) -> str:
    """A `study.toml` with the settings that most studies change."""
    title, mode, options = STUDIES[template]
    values = {"title": title, "mode": mode, "options": options, "ratings": ratings}
    values |= {"annotators": annotators, "seed": seed, "items": list(items)}
    # JSON of texts, numbers, truth values and lists of them is also TOML.
    plain = {name: Markup(json.dumps(each, ensure_ascii=False)) for name, each in values.items()}
    made = environment(TEMPLATES).get_template("study.toml.txt")
    return made.render(template=template, **plain)


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
