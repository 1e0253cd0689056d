"""Leases, which keep a unit for the annotator who is looking at it."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from darc.study import schema
from darc.study.store import Store

Row = Mapping[Any, Any]

_tasks = schema.tasks
_units = schema.units


@dataclass(frozen=True)
class Task:
    """A unit as one annotator sees it."""

    #: The annotator's lease or answer, a row of the table of tasks.
    row: Row
    #: What is shown, a row of the table of units.
    unit: Row

    @property
    def sides(self) -> tuple[str, str]:
        """The responses on the left and on the right."""
        if self.row["flipped"]:
            return self.unit["second"], self.unit["first"]
        return self.unit["first"], self.unit["second"]


def read_task(connection: Connection, row: Row) -> Task:
    """A task with its unit."""
    query = select(_units).where(_units.c.id == row["unit_id"])
    unit = connection.execute(query).mappings().one()
    return Task(row, dict(unit))


def occupies_slot(now: float) -> Any:
    """The SQL condition that a task takes a slot of its item: a valid answer or a live lease."""
    is_leased = _tasks.c.answered.is_(None) & (_tasks.c.lease_until > now)
    is_valid = _tasks.c.answered.is_not(None) & _tasks.c.valid
    return (_tasks.c.kind == "item") & (is_leased | is_valid)


def count_taken_slots(connection: Connection, unit_id: int, now: float) -> int:
    """How many slots of a unit are taken."""
    query = select(func.count()).select_from(_tasks)
    query = query.where(_tasks.c.unit_id == unit_id, occupies_slot(now))
    return int(connection.execute(query).scalar_one())


def full_units(connection: Connection, now: float) -> set[int]:
    """The ids of the items of which as many slots are taken as ratings are wanted."""
    query = (
        select(_units.c.id)
        .join(_tasks, _tasks.c.unit_id == _units.c.id)
        .where(occupies_slot(now))
        .group_by(_units.c.id, _units.c.wanted)
        .having(func.count() >= _units.c.wanted)
    )
    return set(connection.execute(query).scalars())


def lease_end(store: Store) -> float:
    """When a lease that begins now lapses."""
    return store.now() + store.config.study.lease_minutes * 60


@dataclass(frozen=True)
class LeaseRequest:
    """What is to be leased to whom, and how it is shown."""

    annotator_id: int
    unit_id: int
    kind: str
    #: The place among the tasks of the annotator, from 1.
    position: int
    #: Whether the second response of a pair is on the left.
    flipped: bool


def lease_unit(
    store: Store,
    connection: Connection,
    request: LeaseRequest,
    lapsed: Row | None = None,
) -> Row:
    """Lease a unit to an annotator.

    Args:
        store: The study.
        connection: A transaction that writes.
        request: The unit and the annotator.
        lapsed: The row of an earlier lease that has lapsed, which is used again.

    Returns:
        The row of the task.
    """
    values = {
        "annotator_id": request.annotator_id,
        "unit_id": request.unit_id,
        "kind": request.kind,
        "position": request.position,
        "flipped": request.flipped and store.config.pairwise,
        "lease_until": lease_end(store),
        "shown": store.now(),
    }
    if lapsed is None:
        code = secrets.token_urlsafe(12)
        row_id = schema.add_row(connection, _tasks, code=code, **values)
    else:
        row_id = lapsed["id"]
        schema.change(connection, _tasks, row_id, **values)
    return connection.execute(select(_tasks).where(_tasks.c.id == row_id)).mappings().one()
