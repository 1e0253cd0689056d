"""Setting an annotator's ratings aside, and taking them back; nothing is deleted."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.claims import taken
from darc.study.people import annotator_by_name
from darc.study.quality import Record
from darc.study.schema import note, side_of
from darc.study.store import Store

tasks, units, people = schema.tasks, schema.units, schema.annotators


def records_of(connection: Connection, annotator_id: int | None = None) -> dict[int, list[Record]]:
    """The answers of annotators, by their id, as `quality` judges them."""
    query = (
        select(tasks, units.c.reference, units.c.tolerance, units.c.second)
        .join(units, tasks.c.unit_id == units.c.id)
        .where(tasks.c.answered.is_not(None))
        .order_by(tasks.c.annotator_id, tasks.c.sequence)
    )
    if annotator_id is not None:
        query = query.where(tasks.c.annotator_id == annotator_id)
    found = defaultdict(list)
    for row in connection.execute(query).mappings():
        found[row["annotator_id"]].append(
            Record(
                "skipped" if row["answer"] is None else row["kind"],
                row["answer"] or 0.0,
                row["reference"],
                row["tolerance"],
                row["milliseconds"],
                side_of(row["answer"], row["flipped"]) if row["second"] else None,
            )
        )
    return dict(found)


def exclude(store: Store, connection: Connection, person: Any, reason: str, actor: str) -> None:
    """Mark a locked annotator's ratings as not valid; their slots, and their leases, are free.

    A slot is first filled with a surplus rating, where another annotator gave one.
    """
    now = store.now()
    change = update(people).where(people.c.id == person["id"])
    connection.execute(change.values(excluded=now, exclusion_reason=reason))
    own = tasks.c.annotator_id == person["id"]
    valid = select(tasks.c.unit_id).where(own, tasks.c.kind == "item", tasks.c.valid)
    freed = sorted(connection.execute(valid).scalars())
    item = own & (tasks.c.kind == "item")
    connection.execute(
        update(tasks).where(item, tasks.c.answer.is_not(None)).values(valid=False, reason=reason)
    )
    connection.execute(update(tasks).where(own, tasks.c.answered.is_(None)).values(lease_until=0.0))
    note(connection, now, actor, "excluded", person["name"], reason)
    refill(store, connection, freed)


def refill(store: Store, connection: Connection, units_freed: Sequence[int]) -> None:
    """Fill free slots of units with surplus ratings, where there are any."""
    for unit_id in units_freed:
        surplus = select(tasks.c.id).where(
            tasks.c.unit_id == unit_id, tasks.c.reason == "surplus", tasks.c.kind == "item"
        )
        for task_id in connection.execute(surplus.order_by(tasks.c.answered)).scalars().all():
            _restore(store, connection, unit_id, task_id)


def exclude_by_name(store: Store, name: str, reason: str, actor: str = "lead") -> None:
    """Exclude an annotator for a reason in words."""
    if not reason.strip():
        raise InputError("an exclusion needs a reason", "add --reason TEXT")
    with store.write() as connection:
        person = store.locked(connection, people, annotator_by_name(connection, name)["id"])
        if person["excluded"] is not None:
            raise InputError(f"{name} is excluded already", "darc study status lists everyone")
        exclude(store, connection, person, reason.strip()[:200], actor)


def reinstate(store: Store, name: str, actor: str = "lead") -> tuple[int, int]:
    """Undo an exclusion; how many ratings count again, and how many found their slots filled.

    Checks do not exclude the annotator again. Ratings that found no slot stay set aside as surplus,
    so that no item has more than its number of ratings.
    """
    with store.write() as connection:
        person = store.locked(connection, people, annotator_by_name(connection, name)["id"])
        if person["excluded"] is None:
            raise InputError(f"{name} is not excluded", "darc study status lists everyone")
        own = select(tasks.c.id, tasks.c.unit_id).where(
            tasks.c.annotator_id == person["id"],
            tasks.c.kind == "item",
            tasks.c.answer.is_not(None),
            tasks.c.valid.is_(False),
        )
        rows = connection.execute(own.order_by(tasks.c.unit_id)).all()
        change = update(people).where(people.c.id == person["id"])
        connection.execute(change.values(excluded=None, exclusion_reason="", kept=True))
        back = sum(_restore(store, connection, unit_id, task_id) for task_id, unit_id in rows)
        note(connection, store.now(), actor, "reinstated", name, f"{back} of {len(rows)} ratings")
    return back, len(rows) - back


def clear(store: Store, name: str, actor: str = "lead") -> None:
    """Note that an annotator's flags were looked at and mean nothing."""
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        connection.execute(update(people).where(people.c.id == person["id"]).values(cleared=True))
        note(connection, store.now(), actor, "cleared", name)


def _restore(store: Store, connection: Connection, unit_id: int, task_id: int) -> bool:
    """Let a rating that was set aside count, if its unit has a free slot."""
    store.locked(connection, units, unit_id)
    fits = taken(connection, unit_id, store.now()) < store.config.study.ratings
    values = {"valid": True, "reason": ""} if fits else {"valid": False, "reason": "surplus"}
    connection.execute(update(tasks).where(tasks.c.id == task_id).values(**values))
    return fits
