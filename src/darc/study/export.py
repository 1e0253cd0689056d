"""The files that a study ends in, tidy and readable by `darc select` and `darc eval`."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from darc.errors import InputError
from darc.files import atomic_writer, private_folder
from darc.study import schema
from darc.study.items import is_formula
from darc.study.schema import log_lines, note, side_of
from darc.study.settings import StudySettings
from darc.study.store import Store

tasks, units, people = schema.tasks, schema.units, schema.annotators

SCALAR = ("prompt_id", "candidate_id", "rater_id", "rating")
PAIRWISE = ("prompt_id", "left_id", "right_id", "rater_id", "winner")
MORE = ("position", "shown_left", "milliseconds", "kind", "valid", "exclusion_reason")
EXCLUSIONS = ("at", "actor", "action", "rater_id", "reason")


def export(store: Store, folder: Path, *, unblind: bool = False) -> list[Path]:
    """Write all files, each whole or not at all and for its owner; the result is their paths.

    An open study is refused, because the files name the systems, unless `unblind` is given.
    """
    made = files(store, unblind=unblind)
    private_folder(folder)
    paths = []
    for name, text in made.items():
        with atomic_writer(folder / name, private=True) as stream:
            stream.write(text)
        paths.append(folder / name)
    return paths


def files(store: Store, *, unblind: bool = False, actor: str = "lead") -> dict[str, str]:
    """The files by name, from one state of the database."""
    config = store.config
    with store.read() as connection:
        closed = connection.execute(select(schema.study.c.closed)).scalar()
        if closed is None and not unblind:
            raise InputError(
                "the study is open, and its export names the systems",
                "close it with darc study close, or add --unblind",
            )
        rows = [dict(row) for row in connection.execute(_answers()).mappings()]
        made = _made(connection, config, rows)
    with store.write() as connection:
        note(connection, store.now(), actor, "exported", "study", "" if closed else "unblinded")
    return made


def _made(
    connection: Connection, config: StudySettings, rows: list[dict[str, Any]]
) -> dict[str, str]:
    header = PAIRWISE if config.pairwise else SCALAR
    line = _comparison if config.pairwise else _rating
    more = _more_columns(config)
    rated = {row["unit_id"] for row in rows if row["valid"]}
    ours = [row for row in rows if row["kind"] == "item" and row["unit_id"] in rated]
    name = "comparisons" if config.pairwise else "ratings"
    columns = (*header, *MORE, "given", *more)
    table = [(*line(row), *(tell(row) for tell in more.values())) for row in ours]
    return {
        f"{name}.csv": _csv(columns, table),
        f"{name}.jsonl": "".join(_json_line(columns, row) for row in table),
        f"{name}.texts.jsonl": "".join(_texts(connection)),
        "all_answers.csv": _csv(
            (*header, *MORE, "given", "reference", "passed", *more),
            ((*line(row), *_checked(row), *(tell(row) for tell in more.values())) for row in rows),
        ),
        "exclusions.csv": _csv(EXCLUSIONS, _exclusions(connection)),
        "design.json": json.dumps(_design(connection, config), indent=1, ensure_ascii=False) + "\n",
        "log.csv": _csv(
            ("at", "actor", "action", "subject", "detail"),
            (list(row.values())[1:] for row in log_lines(connection)),
        ),
    }


def _answers() -> Any:
    return (
        select(
            tasks,
            people.c.name,
            people.c.groups,
            units.c.prompt_id,
            units.c.label,
            units.c.first_id,
            units.c.second_id,
            units.c.reference,
            units.c.tolerance,
        )
        .join(people, tasks.c.annotator_id == people.c.id)
        .join(units, tasks.c.unit_id == units.c.id)
        .where(tasks.c.answered.is_not(None))
        .order_by(units.c.id, people.c.number)
    )


def _more_columns(config: StudySettings) -> dict[str, Callable[[dict[str, Any]], str]]:
    """Columns that a study has by its settings, and how a row tells them.

    `rater_group` is the answer to the first question about people, `rater_group_NAME` to each.
    """
    columns: dict[str, Callable[[dict[str, Any]], str]] = {}
    if config.study.comments:
        columns["comment"] = lambda row: str(row["comment"])
    for place, each in enumerate(config.groups):
        told = partial(_group, each.name)
        columns |= {"rater_group": told} if place == 0 else {}
        columns[f"rater_group_{each.name}"] = told
    return columns


def _group(name: str, row: dict[str, Any]) -> str:
    return str((row["groups"] or {}).get(name, ""))


def _json_line(columns: Sequence[str], row: Sequence[object]) -> str:
    """A row as a JSON line: ratings are numbers, what is empty null."""
    values: dict[str, object] = dict(zip(columns, row, strict=True))
    for name, value in values.items():
        if value == "":
            values[name] = None
        elif name in ("rating", "given") and "rating" in values:
            values[name] = float(str(value))
    return json.dumps({**values, "valid": values["valid"] == "true"}, ensure_ascii=False) + "\n"


def _more(row: dict[str, Any], shown_left: str, given: object) -> tuple[object, ...]:
    return (
        row["position"],
        shown_left,
        row["milliseconds"],
        row["kind"],
        "true" if row["valid"] else "false",
        row["reason"],
        given,
    )


def _rating(row: dict[str, Any]) -> tuple[object, ...]:
    """A rating; what is not valid has an empty `rating`, which readers pass over, and `given`."""
    given = "" if row["answer"] is None else f"{row['answer']:g}"
    names = row["prompt_id"] or row["label"], row["first_id"] or "check", row["name"]
    return (*names, given if row["valid"] else "", *_more(row, "", given))


def _comparison(row: dict[str, Any]) -> tuple[object, ...]:
    """A comparison as it was shown; what is not valid has an empty `winner`."""
    pair = row["first_id"] or "check first", row["second_id"] or "check second"
    left, right = (pair[1], pair[0]) if row["flipped"] else pair
    given = "" if row["answer"] is None else side_of(row["answer"], row["flipped"])
    names = row["prompt_id"] or row["label"], left, right, row["name"]
    return (*names, given if row["valid"] else "", *_more(row, left, given))


def _checked(row: dict[str, Any]) -> tuple[object, object]:
    if row["reference"] is None or row["answer"] is None:
        return "", ""
    passed = abs(row["answer"] - row["reference"]) <= row["tolerance"] + 1e-9
    return f"{row['reference']:g}", "true" if passed else "false"


def _exclusions(connection: Connection) -> Iterator[tuple[object, ...]]:
    """Every exclusion and what undid it, oldest first."""
    for row in log_lines(connection):
        if row["action"] in ("excluded", "reinstated", "cleared", "erased"):
            yield row["at"], row["actor"], row["action"], row["subject"], row["detail"]


def _texts(connection: Connection) -> Iterator[str]:
    query = select(units).where(units.c.kind == "item").order_by(units.c.number)
    seen = set()
    for row in connection.execute(query).mappings():
        prompt = "\n\n".join(text for _, text in row["turns"])
        for name, text in ((row["first_id"], row["first"]), (row["second_id"], row["second"])):
            if name and (row["prompt_id"], name) not in seen:
                seen.add((row["prompt_id"], name))
                entry = {"prompt_id": row["prompt_id"], "candidate_id": name}
                yield json.dumps({**entry, "prompt": prompt, "response": text}, ensure_ascii=False)
                yield "\n"


def _design(connection: Connection, config: StudySettings) -> dict[str, Any]:
    """The settings, the units without their texts, and every annotator's plan."""
    query = select(
        *(units.c[name] for name in ("kind", "number", "label", "prompt_id", "first_id")),
        *(units.c[name] for name in ("second_id", "reference", "tolerance")),
    )
    plans = select(people.c.name, people.c.plan).order_by(people.c.number)
    return {
        "schema": schema.SCHEMA,
        "config": config.plain(),
        "units": [dict(row) for row in connection.execute(query.order_by(units.c.id)).mappings()],
        "plans": {row.name: row.plan for row in connection.execute(plans)},
    }


def _inert(cell: object) -> object:
    """A cell that no spreadsheet runs: what looks like a formula gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell


def _csv(header: Sequence[str], rows: Any) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_inert(cell) for cell in row] for row in rows)
    return stream.getvalue()
