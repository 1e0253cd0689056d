"""Excluding annotators, whose ratings are then set aside, and reinstating them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.leases import count_taken_slots
from darc.study.people import annotator_by_name, set_columns
from darc.study.schema import SURPLUS, change, note
from darc.study.store import Store

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators

_MAX_REASON_LENGTH = 200
_STATUS_HINT = "darc study status lists everyone"


def exclude(store: Store, connection: Connection, person: Any, reason: str, actor: str) -> None:
    """Exclude an annotator: their ratings are not valid, and their slots and leases are free.

    A slot is first filled with a surplus rating, if another annotator gave one.

    Args:
        store: The study.
        connection: A transaction that writes.
        person: The annotator's row, locked.
        reason: Why.
        actor: Who excludes them, for the log: "study" or "lead".
    """
    change(connection, _annotators, person["id"], excluded=store.now(), exclusion_reason=reason)
    is_own = _tasks.c.annotator_id == person["id"]
    is_own_item = is_own & (_tasks.c.kind == "item")
    valid_items = select(_tasks.c.unit_id).where(is_own_item, _tasks.c.valid)
    freed_units = sorted(connection.execute(valid_items).scalars())
    ratings = update(_tasks).where(is_own_item, _tasks.c.answer.is_not(None))
    connection.execute(ratings.values(valid=False, reason=reason))
    leases = update(_tasks).where(is_own, _tasks.c.answered.is_(None))
    connection.execute(leases.values(lease_until=0.0))
    note(connection, store.now(), actor, "excluded", person["name"], reason)
    refill(store, connection, freed_units)


def refill(store: Store, connection: Connection, unit_ids: Sequence[int]) -> None:
    """Fill free slots of units with surplus ratings, oldest first, if there are any."""
    is_surplus = (_tasks.c.reason == SURPLUS) & (_tasks.c.kind == "item")
    for unit_id in unit_ids:
        query = select(_tasks.c.id).where(_tasks.c.unit_id == unit_id, is_surplus)
        task_ids = connection.execute(query.order_by(_tasks.c.answered)).scalars().all()
        for task_id in task_ids:
            _restore(store, connection, unit_id, task_id)


def exclude_by_name(store: Store, name: str, reason: str) -> None:
    """Exclude an annotator, as a decision of the lead.

    Args:
        store: The study.
        name: The pseudonym.
        reason: Why, in words.

    Raises:
        InputError: There is no reason, or they are excluded already.
        UnknownName: There is no such annotator.
    """
    if not reason.strip():
        raise InputError("an exclusion needs a reason", "add --reason TEXT")
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        if person["excluded"] is not None:
            raise InputError(f"{name} is excluded already", _STATUS_HINT)
        exclude(store, connection, person, reason.strip()[:_MAX_REASON_LENGTH], "lead")


def reinstate(store: Store, name: str) -> tuple[int, int]:
    """Undo an exclusion; checks do not exclude the annotator again.

    Ratings that find no free slot stay set aside as surplus, so that no item has too many.

    Args:
        store: The study.
        name: The pseudonym.

    Returns:
        How many ratings count again, and how many found their slots filled.

    Raises:
        InputError: They are not excluded.
        UnknownName: There is no such annotator.
    """
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        if person["excluded"] is None:
            raise InputError(f"{name} is not excluded", _STATUS_HINT)
        query = select(_tasks.c.id, _tasks.c.unit_id).where(
            _tasks.c.annotator_id == person["id"],
            _tasks.c.kind == "item",
            _tasks.c.answer.is_not(None),
            _tasks.c.valid.is_(False),
        )
        ratings = connection.execute(query.order_by(_tasks.c.unit_id)).all()
        change(connection, _annotators, person["id"], excluded=None, exclusion_reason="", kept=True)
        restored = sum(
            _restore(store, connection, unit_id, task_id) for task_id, unit_id in ratings
        )
        detail = f"{restored} of {len(ratings)} ratings"
        note(connection, store.now(), "lead", "reinstated", name, detail)
    return restored, len(ratings) - restored


def clear(store: Store, name: str) -> None:
    """Note that the lead looked at an annotator's flags and they mean nothing."""
    set_columns(store, name, "cleared", cleared=True)


def _restore(store: Store, connection: Connection, unit_id: int, task_id: int) -> bool:
    """Let a rating that was set aside count, if its unit has a free slot."""
    unit = store.locked(connection, _units, unit_id)
    taken_slots = count_taken_slots(connection, unit_id, store.now())
    fits = taken_slots < unit["wanted"]
    change(connection, _tasks, task_id, valid=fits, reason="" if fits else SURPLUS)
    return fits
