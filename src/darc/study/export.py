"""The files that a study ends in, tidy and readable by `darc select` and `darc eval`."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, RowMapping, select

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
MORE = ("position", "shown_left", "milliseconds", "kind", "valid", "exclusion_reason", "given")
EXCLUSIONS = ("excluded", "reinstated", "cleared", "erased")


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


def files(store: Store, *, unblind: bool = False) -> dict[str, str]:
    """The files by name, from one state of the database."""
    config = store.config
    with store.read() as connection:
        closed = schema.study_row(connection)["closed"]
        if closed is None and not unblind:
            raise InputError(
                "the study is open, and its export names the systems",
                "close it with darc study close, or add --unblind",
            )
        answered = schema.whole_tasks(tasks.c.answered.is_not(None))
        ordered = answered.order_by(units.c.id, people.c.number)
        rows = connection.execute(ordered).mappings().all()
        log = [{**row, "at": str(row["at"])} for row in log_lines(connection)]
        texts = "".join(map(_json_line, _texts(connection)))
        design = _design(connection, config)
    with store.write() as connection:
        note(connection, store.now(), "lead", "exported", "study", "" if closed else "unblinded")
    # `rater_group` is the answer to the first question about people, `rater_group_NAME` to each.
    groups = [f"rater_group_{each.name}" for each in config.groups]
    more = ["comment"] * config.study.comments + ["rater_group"] * bool(groups) + groups
    header = [*(PAIRWISE if config.pairwise else SCALAR), *MORE]
    lines = [_line(row, config) for row in rows]
    rated = {row["unit_id"] for row in rows if row["valid"]}
    ours = [
        line
        for row, line in zip(rows, lines, strict=True)
        if row["kind"] == "item" and row["unit_id"] in rated
    ]
    name = "comparisons" if config.pairwise else "ratings"
    columns = [*header, *more]
    decisions = [
        {"rater_id": row["subject"], "reason": row["detail"], **row}
        for row in log
        if row["action"] in EXCLUSIONS
    ]
    return {
        f"{name}.csv": _csv(columns, ours),
        f"{name}.jsonl": "".join(
            _json_line({name: line[name] for name in columns}) for line in ours
        ),
        f"{name}.texts.jsonl": texts,
        "all_answers.csv": _csv([*header, "reference", "passed", *more], lines),
        "exclusions.csv": _csv(["at", "actor", "action", "rater_id", "reason"], decisions),
        "design.json": json.dumps(design, indent=1, ensure_ascii=False) + "\n",
        "log.csv": _csv(["at", "actor", "action", "subject", "detail"], log),
    }


def _line(row: RowMapping, config: StudySettings) -> dict[str, Any]:
    """An answer by column, a comparison as it was shown; None where there is nothing.

    What is not valid has no `rating` or `winner`, so that readers pass over it, but a `given`.
    """
    answer = row["answer"]
    check = ("check first", "check second") if config.pairwise else ("check", "")
    pair = row["first_id"] or check[0], row["second_id"] or check[1]
    left, right = (pair[1], pair[0]) if row["flipped"] else pair
    sided = config.pairwise and answer is not None
    given = side_of(answer, row["flipped"]) if sided else answer
    counts = given if row["valid"] else None
    checked = None if answer is None else row["reference"]
    passed = None if checked is None else schema.passed(answer, checked, row["tolerance"])
    said = {each.name: (row["groups"] or {}).get(each.name) or None for each in config.groups}
    return {
        **{name: row[name] for name in ("position", "milliseconds", "kind", "valid")},
        "comment": row["comment"] or None,
        "prompt_id": row["prompt_id"] or row["label"],
        "rater_id": row["name"],
        "candidate_id": left,
        "rating": counts,
        "left_id": left,
        "right_id": right,
        "winner": counts,
        "shown_left": left if config.pairwise else None,
        "exclusion_reason": row["reason"] or None,
        "given": given,
        "reference": checked,
        "passed": passed,
        "rater_group": next(iter(said.values()), None),
        **{f"rater_group_{name}": text for name, text in said.items()},
    }


def _json_line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"


def _texts(connection: Connection) -> Iterator[dict[str, Any]]:
    query = select(units).where(units.c.kind == "item").order_by(units.c.number)
    seen = set()
    for row in connection.execute(query).mappings():
        prompt = "\n\n".join(text for _, text in row["turns"])
        for name, text in ((row["first_id"], row["first"]), (row["second_id"], row["second"])):
            if name and (row["prompt_id"], name) not in seen:
                seen.add((row["prompt_id"], name))
                entry = {"prompt_id": row["prompt_id"], "candidate_id": name}
                yield {**entry, "prompt": prompt, "response": text}


def _design(connection: Connection, config: StudySettings) -> dict[str, Any]:
    """The settings, the units without their texts, and every annotator's plan."""
    shown = ("kind", "number", "label", "prompt_id", "first_id", "second_id")
    query = select(*(units.c[name] for name in (*shown, "reference", "tolerance")))
    plans = select(people.c.name, people.c.plan).order_by(people.c.number)
    return {
        "schema": schema.SCHEMA,
        "config": config.model_dump(),
        "units": [dict(row) for row in connection.execute(query.order_by(units.c.id)).mappings()],
        "plans": {row.name: row.plan for row in connection.execute(plans)},
    }


def _csv(columns: Sequence[str], lines: Iterable[dict[str, Any]]) -> str:
    """A table whose cells no spreadsheet runs: a formula gets an apostrophe before it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for line in lines:
        writer.writerow(_cell(line[name]) for name in columns)
    return stream.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return f"'{value}" if isinstance(value, str) and is_formula(value) else value
