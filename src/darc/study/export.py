"""The files that a study ends in, tidy and readable by `darc select` and `darc eval`."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from darc.errors import InputError
from darc.files import atomic_writer, private_folder
from darc.study import schema
from darc.study.schema import log_lines, note, side_of
from darc.study.settings import StudySettings
from darc.study.spreadsheets import is_formula
from darc.study.store import Store

Row = Mapping[Any, Any]

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators
_waves = schema.waves
_requests = schema.requests

_RATING_COLUMNS = ["prompt_id", "candidate_id", "rater_id", "rating"]
_COMPARISON_COLUMNS = ["prompt_id", "left_id", "right_id", "rater_id", "winner"]
_TASK_COLUMNS = [
    "position",
    "shown_left",
    "milliseconds",
    "kind",
    "valid",
    "exclusion_reason",
    "given",
]
_EXCLUSION_COLUMNS = ["at", "actor", "action", "rater_id", "reason"]
_LOG_COLUMNS = ["at", "actor", "action", "subject", "detail"]
_EXCLUSION_ACTIONS = ("excluded", "reinstated", "cleared", "erased")


def export(store: Store, folder: Path, *, unblind: bool = False) -> list[Path]:
    """Write all files, each whole or not at all, for their owner alone.

    Args:
        store: The study.
        folder: Where to write them.
        unblind: Export an open study, although the files name the systems.

    Returns:
        The paths of the files.

    Raises:
        InputError: The study is open and `unblind` is not given.
    """
    texts = files(store, unblind=unblind)
    private_folder(folder)
    paths = []
    for name, text in texts.items():
        path = folder / name
        with atomic_writer(path, private=True) as stream:
            stream.write(text)
        paths.append(path)
    return paths


def files(store: Store, *, unblind: bool = False) -> dict[str, str]:
    """Make all files from one state of the database.

    Args:
        store: The study.
        unblind: Export an open study, although the files name the systems.

    Returns:
        The text of each file by its name.

    Raises:
        InputError: The study is open and `unblind` is not given.
    """
    config = store.config
    with store.read() as connection:
        closed = schema.study_row(connection)["closed"]
        if closed is None and not unblind:
            raise InputError(
                "the study is open, and its export names the systems",
                "close it with darc study close, or add --unblind",
            )
        answered = schema.whole_tasks(_tasks.c.answered.is_not(None))
        query = answered.order_by(_units.c.id, _annotators.c.number)
        rows = connection.execute(query).mappings().all()
        log = log_lines(connection)
        texts = list(_response_texts(connection))
        design = _describe_design(connection, config)
    with store.write() as connection:
        detail = "unblinded" if closed is None else ""
        note(connection, store.now(), "lead", "exported", "study", detail)
    return _make_files(config, rows, log, texts, design)


def _make_files(
    config: StudySettings,
    rows: Sequence[Row],
    log: Sequence[dict[str, Any]],
    texts: Sequence[dict[str, Any]],
    design: dict[str, Any],
) -> dict[str, str]:
    answers = [_describe_answer(row, config) for row in rows]
    rated_units = {row["unit_id"] for row in rows if row["valid"]}
    ratings = [
        answer
        for row, answer in zip(rows, answers, strict=True)
        if row["kind"] == "item" and row["unit_id"] in rated_units
    ]
    columns = _COMPARISON_COLUMNS if config.pairwise else _RATING_COLUMNS
    columns = columns + _TASK_COLUMNS
    extra_columns = _extra_columns(config)
    rating_columns = columns + extra_columns
    answer_columns = [*columns, "reference", "passed", *extra_columns]
    events = [{**line, "at": str(line["at"])} for line in log]
    exclusions = [
        {**event, "rater_id": event["subject"], "reason": event["detail"]}
        for event in events
        if event["action"] in _EXCLUSION_ACTIONS
    ]
    rating_lines = [{name: rating[name] for name in rating_columns} for rating in ratings]
    name = "comparisons" if config.pairwise else "ratings"
    return {
        f"{name}.csv": _csv_text(rating_columns, ratings),
        f"{name}.jsonl": _json_lines(rating_lines),
        f"{name}.texts.jsonl": _json_lines(texts),
        "all_answers.csv": _csv_text(answer_columns, answers),
        "exclusions.csv": _csv_text(_EXCLUSION_COLUMNS, exclusions),
        "design.json": json.dumps(design, indent=1, ensure_ascii=False) + "\n",
        "log.csv": _csv_text(_LOG_COLUMNS, events),
    }


def _extra_columns(config: StudySettings) -> list[str]:
    """Columns that only some studies have.

    `rater_group` is the answer to the first question about people, `rater_group_NAME` to each.
    """
    columns = []
    if config.study.comments:
        columns.append("comment")
    if config.groups:
        columns.append("rater_group")
        columns += [f"rater_group_{question.name}" for question in config.groups]
    return columns


def _describe_answer(row: Row, config: StudySettings) -> dict[str, Any]:
    """An answer by column, a comparison as it was shown; None where there is nothing.

    What is not valid has no `rating` or `winner`, so that readers pass over it, but a `given`.
    """
    left, right = _candidates_as_shown(row, config.pairwise)
    answer = row["answer"]
    if config.pairwise and answer is not None:
        answer = side_of(answer, row["flipped"])
    valid_answer = answer if row["valid"] else None
    reference = None
    passed = None
    if row["answer"] is not None:
        reference = row["reference"]
        if reference is not None:
            passed = schema.passed(row["answer"], reference, row["tolerance"])
    return {
        "position": row["position"],
        "milliseconds": row["milliseconds"],
        "kind": row["kind"],
        "valid": row["valid"],
        "comment": row["comment"] or None,
        "prompt_id": row["prompt_id"] or row["label"],
        "rater_id": row["name"],
        "candidate_id": left,
        "rating": valid_answer,
        "left_id": left,
        "right_id": right,
        "winner": valid_answer,
        "shown_left": left if config.pairwise else None,
        "exclusion_reason": row["reason"] or None,
        "given": answer,
        "reference": reference,
        "passed": passed,
        **_describe_groups(row, config),
    }


def _candidates_as_shown(row: Row, pairwise: bool) -> tuple[str, str]:
    """The candidates on the left and on the right; those of checks have made-up names."""
    if pairwise:
        first = row["first_id"] or "check first"
        second = row["second_id"] or "check second"
    else:
        first = row["first_id"] or "check"
        second = row["second_id"]
    if row["flipped"]:
        return second, first
    return first, second


def _describe_groups(row: Row, config: StudySettings) -> dict[str, Any]:
    answers = row["groups"] or {}
    groups: dict[str, Any] = {}
    for question in config.groups:
        answer = answers.get(question.name) or None
        groups.setdefault("rater_group", answer)
        groups[f"rater_group_{question.name}"] = answer
    return groups


def _response_texts(connection: Connection) -> Iterator[dict[str, Any]]:
    """Every prompt with every response to it, once."""
    query = select(_units).where(_units.c.kind == "item").order_by(_units.c.number)
    seen = set()
    for row in connection.execute(query).mappings():
        prompt = "\n\n".join(text for _, text in row["turns"])
        responses = [(row["first_id"], row["first"]), (row["second_id"], row["second"])]
        for candidate_id, text in responses:
            key = (row["prompt_id"], candidate_id)
            if candidate_id and key not in seen:
                seen.add(key)
                yield {
                    "prompt_id": row["prompt_id"],
                    "candidate_id": candidate_id,
                    "prompt": prompt,
                    "response": text,
                }


def _describe_design(connection: Connection, config: StudySettings) -> dict[str, Any]:
    """The settings, the units without their texts, and every annotator's plan."""
    unit_columns = (
        _units.c.kind,
        _units.c.number,
        _units.c.label,
        _units.c.prompt_id,
        _units.c.first_id,
        _units.c.second_id,
        _units.c.reference,
        _units.c.tolerance,
        _units.c.wanted,
    )
    units = connection.execute(select(*unit_columns).order_by(_units.c.id))
    plans = select(_annotators.c.name, _annotators.c.plan).order_by(_annotators.c.number)
    return {
        "schema": schema.SCHEMA,
        "config": config.model_dump(),
        "units": [dict(row) for row in units.mappings()],
        "plans": {row.name: row.plan for row in connection.execute(plans)},
        "waves": _describe_waves(connection),
    }


def _describe_waves(connection: Connection) -> list[dict[str, Any]]:
    """The waves of an adaptive study, each with whom it asked for which item."""
    columns = (_requests.c.wave, _requests.c.taken_over, _units.c.label, _annotators.c.name)
    query = select(*columns).join(_units, _requests.c.unit_id == _units.c.id)
    query = query.outerjoin(_annotators, _requests.c.annotator_id == _annotators.c.id)
    requests = connection.execute(query.order_by(_requests.c.id)).all()
    waves = []
    for wave in connection.execute(select(_waves).order_by(_waves.c.number)).mappings():
        asked = [
            {"item": row.label, "rater_id": row.name, "taken_over": row.taken_over}
            for row in requests
            if row.wave == wave["number"]
        ]
        waves.append({**dict(wave), "requests": asked})
    return waves


def _json_lines(entries: Iterable[dict[str, Any]]) -> str:
    lines = [json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries]
    return "".join(lines)


def _csv_text(columns: Sequence[str], lines: Iterable[dict[str, Any]]) -> str:
    """A table in which no spreadsheet runs a cell: a formula gets an apostrophe before it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for line in lines:
        writer.writerow([_csv_cell(line[name]) for name in columns])
    return stream.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and is_formula(value):
        return f"'{value}"
    return value
