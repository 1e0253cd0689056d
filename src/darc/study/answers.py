"""Taking answers: once each, however often they are sent."""

from typing import Any

from sqlalchemy import Connection, func, select, update

from darc.study import schema
from darc.study.claims import LEARNING, Task, read_task, taken
from darc.study.exclusion import exclude, records_of, refill
from darc.study.quality import care
from darc.study.schema import note
from darc.study.store import Store

tasks, units, people = schema.tasks, schema.units, schema.annotators

SURPLUS, SKIPPED = "surplus", "skipped"
TRIES = 2


class NoSuchTask(Exception):
    """The annotator has no such task."""


class StudyClosed(Exception):
    """The study takes no more answers."""


class AnsweredAlready(Exception):
    """The task has another answer, which the form did not know of."""


def submit(
    store: Store,
    annotator_id: int,
    code: str,
    revision: int,
    answer: float | None,
    comment: str = "",
) -> bool:
    """Keep an answer, None to leave the task to others; whether it is new.

    `revision` is how many answers to this task the form knew of: a form sent twice, or found again
    with the back button, knows of too few and changes nothing; `AnsweredAlready` is raised if it
    says something else than what is kept. An answer whose slot went to others
    while its lease was lapsed is kept as surplus, not valid.
    """
    with store.write() as connection:
        person = store.locked(connection, people, annotator_id)
        row = _own(connection, annotator_id, code)
        late = revision and not _is_last(connection, annotator_id, row)
        if row["revision"] != revision or late:
            if row["answer"] != answer:
                raise AnsweredAlready
            return False
        if connection.execute(select(schema.study.c.closed)).scalar() is not None:
            raise StudyClosed
        if answer is None and (row["kind"] in LEARNING or not store.config.study.skip):
            raise NoSuchTask
        now = store.now()
        values: dict[str, Any] = {"answer": answer, "revision": revision + 1, "draft": None}
        values["comment"] = comment if store.config.study.comments else ""
        if revision:
            note(connection, now, person["name"], "changed", code)
        else:
            # A clock that was set back must not make times negative.
            values |= {"answered": now, "milliseconds": max(0, round(1000 * (now - row["shown"])))}
            own = tasks.c.annotator_id == annotator_id
            before = connection.execute(select(func.max(tasks.c.sequence)).where(own)).scalar()
            values["sequence"] = (before or 0) + 1
        if not revision or (row["answer"] is None) != (answer is None):
            values |= _validity(store, connection, person, row, answer)
        connection.execute(update(tasks).where(tasks.c.id == row["id"]).values(**values))
        if row["valid"] and answer is None:
            refill(store, connection, [row["unit_id"]])
        trusted = person["excluded"] is not None or person["kept"]
        if row["kind"] in ("attention", "gold") and not trusted:
            _judge(store, connection, person)
    return True


def _validity(
    store: Store, connection: Connection, person: Any, row: Any, answer: float | None
) -> dict[str, Any]:
    if answer is None:
        return {"valid": False, "reason": SKIPPED}
    if row["kind"] != "item":
        return {"valid": True, "reason": ""}
    if person["excluded"] is not None:
        return {"valid": False, "reason": person["exclusion_reason"]}
    now = store.now()
    store.locked(connection, units, row["unit_id"])
    own = row["answered"] is None and row["lease_until"] > now
    others = taken(connection, row["unit_id"], now) - own
    fits = others < store.config.study.ratings
    return {"valid": fits, "reason": "" if fits else SURPLUS}


def _judge(store: Store, connection: Connection, person: Any) -> None:
    """Exclude the annotator if their checks say so."""
    settings = store.config.quality
    records = records_of(connection, person["id"]).get(person["id"], [])
    reason = care(records, settings).exclude
    if reason and settings.automatic:
        exclude(store, connection, person, reason, "study")


def last_answer(store: Store, annotator_id: int) -> Task | None:
    """The answer given last, which may still be changed; none of the training."""
    with store.read() as connection:
        row = _last(connection, annotator_id)
        return None if row is None else read_task(connection, row)


def save_draft(store: Store, annotator_id: int, code: str, answer: float) -> None:
    """Remember what was chosen but not sent, and keep the lease alive."""
    with store.write() as connection:
        store.locked(connection, people, annotator_id)
        row = _own(connection, annotator_id, code)
        now = store.now()
        values: dict[str, Any] = {"draft": answer}
        if row["answered"] is None and row["lease_until"] > now:
            values["lease_until"] = now + store.config.study.lease_minutes * 60
        if row["answered"] is None:
            connection.execute(update(tasks).where(tasks.c.id == row["id"]).values(**values))


def is_flipped(store: Store, annotator_id: int, code: str) -> bool:
    """Whether a task of the annotator shows its second response on the left."""
    with store.read() as connection:
        return bool(_own(connection, annotator_id, code)["flipped"])


def mark_seen(store: Store, annotator_id: int, code: str) -> None:
    """Go on from the feedback on a training task."""
    with store.write() as connection:
        row = _own(connection, annotator_id, code)
        if row["answered"] is not None:
            connection.execute(update(tasks).where(tasks.c.id == row["id"]).values(seen=True))


def agree(store: Store, annotator_id: int, column: str) -> None:
    """Remember consent (`consented`) or that the instructions were read (`instructed`)."""
    with store.write() as connection:
        person = store.locked(connection, people, annotator_id)
        if person[column] is None:
            change = update(people).where(people.c.id == annotator_id)
            connection.execute(change.values({column: store.now()}))


def describe(store: Store, annotator_id: int, groups: dict[str, str]) -> None:
    """Remember what the annotator said of themselves, the first time."""
    with store.write() as connection:
        if store.locked(connection, people, annotator_id)["groups"] is None:
            change = update(people).where(people.c.id == annotator_id)
            connection.execute(change.values(groups=groups))


def understand(store: Store, annotator_id: int, tries: int, right: bool) -> None:
    """Remember an attempt at the comprehension check, the `tries`-th; the last wrong one ends it.

    A form that is sent twice counts once.
    """
    with store.write() as connection:
        person = store.locked(connection, people, annotator_id)
        if person["understood"] is not None or person["tries"] != tries:
            return
        change = update(people).where(people.c.id == annotator_id)
        now = store.now()
        connection.execute(
            change.values(understood=now) if right else change.values(tries=tries + 1)
        )
        if not right and tries + 1 >= TRIES and person["excluded"] is None:
            exclude(store, connection, person, "comprehension", "study")


def _own(connection: Connection, annotator_id: int, code: str) -> Any:
    query = select(tasks).where(tasks.c.code == code, tasks.c.annotator_id == annotator_id)
    row = connection.execute(query).mappings().first()
    if row is None:
        raise NoSuchTask
    return row


def _last(connection: Connection, annotator_id: int) -> Any:
    query = select(tasks).where(
        tasks.c.annotator_id == annotator_id,
        tasks.c.answered.is_not(None),
        tasks.c.kind.not_in(LEARNING),
    )
    latest = query.order_by(tasks.c.sequence.desc()).limit(1)
    return connection.execute(latest).mappings().first()


def _is_last(connection: Connection, annotator_id: int, row: Any) -> bool:
    last = _last(connection, annotator_id)
    return last is not None and last["id"] == row["id"]
