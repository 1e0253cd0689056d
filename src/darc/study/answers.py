"""Taking answers: once each, however often they are sent."""

from typing import Any

from sqlalchemy import Connection, func, select

from darc.study import schema
from darc.study.claims import Task, lease_end, read_task, taken
from darc.study.people import exclude, refill
from darc.study.quality import care
from darc.study.schema import LEARNING, change, note, outcome_of
from darc.study.store import Refusal, Store

tasks, units, people = schema.tasks, schema.units, schema.annotators

SKIPPED = "skipped"
TRIES = 2


def submit(
    store: Store,
    annotator_id: int,
    code: str,
    revision: int,
    answer: float | str | None,
    comment: str = "",
) -> bool:
    """Keep a rating, a winner or the side of it, or None to leave the task to others; if it is new.

    `revision` is how many answers to this task the form knew of: a form sent twice, or found again
    with the back button, knows of too few and changes nothing, and is refused if it says something
    else than what is kept. An answer whose slot went to others while its lease was lapsed is kept
    as surplus, not valid.
    """
    with store.write() as connection:
        person = store.locked(connection, people, annotator_id)
        row = _own(connection, annotator_id, code)
        if isinstance(answer, str):
            answer = outcome_of(answer, row["flipped"])
        last = _last(connection, annotator_id) if revision else row
        if row["revision"] != revision or last is None or last["id"] != row["id"]:
            if row["answer"] != answer:
                raise Refusal("answered")
            return False
        if schema.study_row(connection)["closed"] is not None:
            raise Refusal("closed")
        if answer is None and (row["kind"] in LEARNING or not store.config.study.skip):
            raise Refusal("no_task")
        now, mine = store.now(), tasks.c.annotator_id == annotator_id
        values: dict[str, Any] = {"answer": answer, "revision": revision + 1, "draft": None}
        values["comment"] = comment if store.config.study.comments else ""
        if revision:
            note(connection, now, person["name"], "changed", code)
        else:
            # A clock that was set back must not make times negative.
            values |= {"answered": now, "milliseconds": max(0, round(1000 * (now - row["shown"])))}
            before = connection.execute(select(func.max(tasks.c.sequence)).where(mine)).scalar()
            values["sequence"] = (before or 0) + 1
        if not revision or (row["answer"] is None) != (answer is None):
            values["reason"] = _set_aside(store, connection, person, row, answer)
            values["valid"] = not values["reason"]
        change(connection, tasks, row["id"], **values)
        if row["valid"] and answer is None:
            refill(store, connection, [row["unit_id"]])
        trusted = person["excluded"] is not None or person["kept"]
        if row["kind"] in ("attention", "gold") and not trusted and store.config.quality.automatic:
            answered = schema.whole_tasks(mine, tasks.c.answered.is_not(None))
            given = connection.execute(answered).mappings().all()
            if reason := care(given, store.config.quality).exclude:
                exclude(store, connection, person, reason, "study")
    return True


def _set_aside(
    store: Store, connection: Connection, person: Any, row: Any, answer: float | None
) -> str:
    """Why an answer does not count, "" where it does."""
    if answer is None or row["kind"] != "item":
        return SKIPPED if answer is None else ""
    if person["excluded"] is not None:
        return str(person["exclusion_reason"])
    now = store.now()
    store.locked(connection, units, row["unit_id"])
    own = row["answered"] is None and row["lease_until"] > now
    others = taken(connection, row["unit_id"], now) - own
    return "" if others < store.config.study.ratings else schema.SURPLUS


def last_answer(store: Store, annotator_id: int) -> Task | None:
    """The answer given last, which may still be changed; none of the training."""
    with store.read() as connection:
        row = _last(connection, annotator_id)
        return None if row is None else read_task(connection, row)


def save_draft(store: Store, annotator_id: int, code: str, answer: float | str | None) -> None:
    """Remember what was chosen but not sent, and keep the lease alive."""
    with store.write() as connection:
        store.locked(connection, people, annotator_id)
        row = _own(connection, annotator_id, code)
        if row["answered"] is None:
            lease = row["lease_until"]
            until = lease_end(store) if lease > store.now() else lease
            draft = outcome_of(answer, row["flipped"]) if isinstance(answer, str) else answer
            change(connection, tasks, row["id"], draft=draft, lease_until=until)


def mark_seen(store: Store, annotator_id: int, code: str) -> None:
    """Go on from the feedback on a training task."""
    with store.write() as connection:
        row = _own(connection, annotator_id, code)
        if row["answered"] is not None:
            change(connection, tasks, row["id"], seen=True)


def agree(store: Store, annotator_id: int, column: str, said: object = None) -> None:
    """Remember what was said, or when something was agreed to, the first time."""
    with store.write() as connection:
        person = store.locked(connection, people, annotator_id)
        if person[column] is None:
            value = store.now() if said is None else said
            change(connection, people, annotator_id, **{column: value})


def understand(store: Store, annotator_id: int, tries: int, right: bool) -> None:
    """Remember an attempt at the comprehension check, the `tries`-th; the last wrong one ends it.

    A form that is sent twice counts once.
    """
    with store.write() as connection:
        person = store.locked(connection, people, annotator_id)
        if person["understood"] is not None or person["tries"] != tries:
            return
        told = {"understood": store.now()} if right else {"tries": tries + 1}
        change(connection, people, annotator_id, **told)
        if not right and tries + 1 >= TRIES and person["excluded"] is None:
            exclude(store, connection, person, "comprehension", "study")


def _own(connection: Connection, annotator_id: int, code: str) -> Any:
    query = select(tasks).where(tasks.c.code == code, tasks.c.annotator_id == annotator_id)
    row = connection.execute(query).mappings().first()
    if row is None:
        raise Refusal("no_task")
    return row


def _last(connection: Connection, annotator_id: int) -> Any:
    answered = tasks.c.answered.is_not(None), tasks.c.kind.not_in(LEARNING)
    query = select(tasks).where(tasks.c.annotator_id == annotator_id, *answered)
    return connection.execute(query.order_by(tasks.c.sequence.desc())).mappings().first()
