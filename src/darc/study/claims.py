"""What an annotator is shown next, and the lease that keeps it for them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_high
from typing import Any

from sqlalchemy import Connection, func, select

from darc.study import schema
from darc.study.schema import LEARNING, change
from darc.study.store import Store

tasks, units, people = schema.tasks, schema.units, schema.annotators


@dataclass(frozen=True)
class Task:
    """A unit as one annotator sees it: `row` is its lease or answer, `unit` what is shown."""

    row: Mapping[str, Any]
    unit: Mapping[str, Any]

    @property
    def sides(self) -> tuple[str, str]:
        """The responses on the left and on the right."""
        pair = self.unit["first"], self.unit["second"]
        return (pair[1], pair[0]) if self.row["flipped"] else pair


@dataclass(frozen=True)
class Step:
    """Where an annotator is.

    `name` is consent, groups, instructions, comprehension (after `tries` of them), task, feedback,
    done, excluded, ended (failed the comprehension check) or closed.
    """

    name: str
    task: Task | None = None
    done: int = 0
    left: int = 0
    seconds_each: float | None = None
    tries: int = 0


def next_step(store: Store, annotator_id: int) -> Step:
    """Where the annotator is, a free unit leased to them if they are to rate one.

    Asking again gives the same unit until it is answered. One transaction; it is begun again when
    another annotator took the last slot of the unit in between.
    """
    step = None
    while step is None:
        with store.write() as connection:
            step = _step(store, connection, annotator_id)
    return step


def counted(now: float) -> Any:
    """The condition that a task takes a slot of its unit: a valid answer or a live lease."""
    live = tasks.c.answered.is_(None) & (tasks.c.lease_until > now)
    return (tasks.c.kind == "item") & (live | tasks.c.answered.is_not(None) & tasks.c.valid)


def taken(connection: Connection, unit_id: int, now: float) -> int:
    """How many slots of a unit are taken."""
    query = select(func.count()).select_from(tasks).where(tasks.c.unit_id == unit_id, counted(now))
    return int(connection.execute(query).scalar_one())


def lease_end(store: Store) -> float:
    """When a lease that begins now lapses."""
    return store.now() + store.config.study.lease_minutes * 60


def read_task(connection: Connection, row: Mapping[str, Any]) -> Task:
    """A task with its unit."""
    query = select(units).where(units.c.id == row["unit_id"])
    return Task(row, dict(connection.execute(query).mappings().one()))


def _step(store: Store, connection: Connection, annotator_id: int) -> Step | None:
    person = store.locked(connection, people, annotator_id)
    if schema.study_row(connection)["closed"] is not None:
        # Who finished still finds the last page, which may hold their completion code.
        finished = person["finished"] is not None and person["excluded"] is None
        return Step("done" if finished else "closed")
    if person["excluded"] is not None:
        return Step("ended" if person["exclusion_reason"] == "comprehension" else "excluded")
    config = store.config
    for name, column, asked in (
        ("consent", "consented", True),
        ("groups", "groups", config.groups),
        ("instructions", "instructed", True),
        ("comprehension", "understood", config.comprehension and not person["kept"]),
    ):
        if asked and person[column] is None:
            return Step(name, tries=person["tries"])
    query = select(tasks).where(tasks.c.annotator_id == annotator_id).order_by(tasks.c.id)
    mine = {row["unit_id"]: row for row in connection.execute(query).mappings()}
    learning = [(kind, unit) for kind in LEARNING for unit in store.unit_ids[kind]]
    for place, (kind, unit) in enumerate(learning):
        row: Any = mine.get(unit)
        if row is None:
            own = {"annotator_id": annotator_id, "unit_id": unit, "kind": kind}
            position, flip = place + 1, place % 2 == 1
            row = _lease(store, connection, None, **own, position=position, flipped=flip)
        if not row["seen"]:
            name = "task" if row["answered"] is None else "feedback"
            return Step(name, read_task(connection, row), place, len(learning) - place)
    return _working(store, connection, person, mine)


def _working(
    store: Store, connection: Connection, person: Any, mine: dict[int, Any]
) -> Step | None:
    """The step of who learnt enough; None where the unit was taken between looking and locking."""
    study, now, items = store.config.study, store.now(), store.unit_ids["item"]
    work = [row for row in mine.values() if row["kind"] not in LEARNING]
    answered = [row for row in work if row["answered"] is not None]
    rated = sum(row["kind"] == "item" and row["answer"] is not None for row in answered)
    slots = select(tasks.c.unit_id).where(counted(now)).group_by(tasks.c.unit_id)
    full = set(connection.execute(slots.having(func.count() >= study.ratings)).scalars())
    gone = full | {row["unit_id"] for row in answered}
    free = [number for number in person["plan"]["order"] if items[number] not in gone]
    waiting = (row for row in work if row["answered"] is None)
    live = (row for row in waiting if row["kind"] != "item" or row["lease_until"] > now)
    held = next(live, None)
    holds_item = held is not None and held["kind"] == "item"
    remaining = min((study.items_each or len(items)) - rated, len(free) + holds_item)
    pool = [(kind, unit) for kind in ("attention", "gold") for unit in store.unit_ids[kind]]
    planned = ((after, *pool[check], flip) for after, check, flip in person["plan"]["checks"])
    # The checks ahead, each as (items rated before, kind, unit, flip), that were not seen yet.
    ahead = [each for each in planned if each[0] < rated + remaining and each[2] not in mine]
    seconds = [row["milliseconds"] / 1000 for row in answered]
    progress = {
        "done": len(answered),
        "left": remaining + len(ahead) + (held is not None and not holds_item),
        "seconds_each": median_high(seconds) if seconds else None,
    }
    if held is not None:
        change(connection, tasks, held["id"], lease_until=lease_end(store))
        return Step("task", read_task(connection, held), **progress)
    if remaining <= 0:
        if person["finished"] is None:
            change(connection, people, person["id"], finished=now)
        return Step("done", **{**progress, "left": 0})
    if ahead and ahead[0][0] <= rated:
        _, kind, unit, flip = ahead[0]
    else:
        kind, unit = "item", items[free[0]]
        flip = person["plan"]["flipped"][free[0]] == "1"
        store.locked(connection, units, unit)
        if taken(connection, unit, now) >= study.ratings:
            return None
    # A lease that lapsed leaves its row behind, which is not counted again.
    own = {"annotator_id": person["id"], "unit_id": unit, "kind": kind}
    position, flip = len(answered) + 1, bool(flip)
    row = _lease(store, connection, mine.get(unit), **own, position=position, flipped=flip)
    return Step("task", read_task(connection, row), **progress)


def _lease(store: Store, connection: Connection, lapsed: Any, **values: Any) -> Any:
    """Lease a unit to an annotator: a new row of these values, or anew the one that `lapsed`."""
    values["flipped"] = values["flipped"] and store.config.pairwise
    values |= {"lease_until": lease_end(store), "shown": store.now()}
    if lapsed is not None:
        row_id = lapsed["id"]
        change(connection, tasks, row_id, **values)
    else:
        row_id = schema.add_row(connection, tasks, code=secrets.token_urlsafe(12), **values)
    return connection.execute(select(tasks).where(tasks.c.id == row_id)).mappings().one()
