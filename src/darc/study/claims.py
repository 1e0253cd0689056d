"""What an annotator is shown next, and the lease that keeps it for them."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from darc.study import schema
from darc.study.store import Store

tasks, units, people = schema.tasks, schema.units, schema.annotators

LEARNING = ("training", "calibration")
KINDS = ("item", "attention", "gold", *LEARNING)


@dataclass(frozen=True)
class Numbering:
    """`units[kind]` are ids in the order of their numbers, `number` is the way back for items."""

    units: dict[str, list[int]]
    number: dict[int, int]

    def due(
        self, checks: Sequence[Sequence[int]], rated: int, seen: set[int]
    ) -> list[tuple[int, str, bool]]:
        """The planned checks, (unit, kind, flipped), due after `rated` items and not seen yet."""
        found = []
        for after, check, flip in checks:
            if after > rated:
                break
            first = len(self.units["attention"])
            kind = "attention" if check < first else "gold"
            unit = self.units[kind][check if check < first else check - first]
            if unit not in seen:
                found.append((unit, kind, bool(flip)))
        return found


_KNOWN: WeakKeyDictionary[Store, Numbering] = WeakKeyDictionary()


def numbering(store: Store) -> Numbering:
    """The numbering of a store, read once."""
    if store not in _KNOWN:
        units: dict[str, list[int]] = {kind: [] for kind in KINDS}
        query = select(schema.units.c.id, schema.units.c.kind)
        query = query.order_by(schema.units.c.kind, schema.units.c.number)
        with store.read() as connection:
            for unit_id, kind in connection.execute(query):
                units[kind].append(unit_id)
        number = {unit_id: place for place, unit_id in enumerate(units["item"])}
        _KNOWN[store] = Numbering(units, number)
    return _KNOWN[store]


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
    done, excluded (for a `reason`) or closed.
    """

    name: str
    task: Task | None = None
    done: int = 0
    left: int = 0
    seconds_each: float | None = None
    reason: str = ""
    tries: int = 0


class _Retry(Exception):
    """The unit was taken between looking and locking."""


def next_step(store: Store, annotator_id: int) -> Step:
    """Where the annotator is, a free unit leased to them if they are to rate one.

    Asking again gives the same unit until it is answered. One transaction; it is begun again when
    another annotator took the last slot of the unit in between.
    """
    known = numbering(store)
    while True:
        try:
            with store.write() as connection:
                return _step(store, connection, known, annotator_id)
        except _Retry:
            continue


def counted(now: float) -> Any:
    """The condition that a task takes a slot of its unit: a valid answer or a live lease."""
    live = and_(tasks.c.answered.is_(None), tasks.c.lease_until > now)
    return and_(
        tasks.c.kind == "item", or_(and_(tasks.c.answered.is_not(None), tasks.c.valid), live)
    )


def taken(connection: Connection, unit_id: int, now: float) -> int:
    """How many slots of a unit are taken."""
    query = select(func.count()).select_from(tasks).where(tasks.c.unit_id == unit_id, counted(now))
    return int(connection.execute(query).scalar_one())


def full_units(connection: Connection, ratings: int, now: float) -> set[int]:
    """The units without a free slot."""
    query = select(tasks.c.unit_id).where(counted(now)).group_by(tasks.c.unit_id)
    return set(connection.execute(query.having(func.count() >= ratings)).scalars())


def read_task(connection: Connection, row: Mapping[str, Any]) -> Task:
    """A task with its unit."""
    query = select(units).where(units.c.id == row["unit_id"])
    return Task(row, dict(connection.execute(query).mappings().one()))


def _step(store: Store, connection: Connection, known: Numbering, annotator_id: int) -> Step:
    person = store.locked(connection, people, annotator_id)
    if connection.execute(select(schema.study.c.closed)).scalar() is not None:
        # Who finished still finds the last page, which may hold their completion code.
        finished = person["finished"] is not None and person["excluded"] is None
        return Step("done" if finished else "closed")
    if person["excluded"] is not None:
        return Step("excluded", reason=person["exclusion_reason"])
    config = store.config
    before = {
        "consent": person["consented"] is None,
        "groups": bool(config.groups) and person["groups"] is None,
        "instructions": person["instructed"] is None,
        "comprehension": bool(config.comprehension)
        and person["understood"] is None
        and not person["kept"],
    }
    for name, due in before.items():
        if due:
            return Step(name, tries=person["tries"])
    query = select(tasks).where(tasks.c.annotator_id == annotator_id).order_by(tasks.c.id)
    mine = {row["unit_id"]: row for row in connection.execute(query).mappings()}
    learning = _learning(store, connection, known, annotator_id, mine)
    return learning or _working(store, connection, known, person, mine)


def _learning(
    store: Store, connection: Connection, known: Numbering, annotator_id: int, mine: dict[int, Any]
) -> Step | None:
    ids = [unit for kind in LEARNING for unit in known.units[kind]]
    for place, unit in enumerate(ids):
        row = mine.get(unit)
        if row is not None and row["seen"]:
            continue
        if row is not None and row["answered"] is not None:
            return Step("feedback", read_task(connection, row), place, len(ids) - place)
        if row is None:
            kind = "training" if unit in known.units["training"] else "calibration"
            row = _lease(store, connection, annotator_id, unit, kind, place + 1, place % 2 == 1)
        return Step("task", read_task(connection, row), place, len(ids) - place)
    return None


def _working(
    store: Store, connection: Connection, known: Numbering, person: Any, mine: dict[int, Any]
) -> Step:
    config, now = store.config, store.now()
    work = [row for row in mine.values() if row["kind"] not in LEARNING]
    answered = [row for row in work if row["answered"] is not None]
    rated = sum(row["kind"] == "item" and row["answer"] is not None for row in answered)
    cap = config.study.items_each or len(known.units["item"])
    full = full_units(connection, config.study.ratings, now)
    answered_units = {row["unit_id"] for row in answered}
    order = [known.units["item"][number] for number in person["plan"]["order"]]
    free = [unit for unit in order if unit not in answered_units and unit not in full]
    held = next((row for row in work if row["answered"] is None and _live(row, now)), None)
    holds_item = held is not None and held["kind"] == "item"
    remaining = min(cap - rated, len(free) + holds_item)
    checks = known.due(person["plan"]["checks"], rated + remaining - 1, set(mine))
    progress = {
        "done": len(answered),
        "left": remaining + len(checks) + (held is not None and not holds_item),
        "seconds_each": _median([row["milliseconds"] / 1000 for row in answered]),
    }
    if held is not None:
        until = now + config.study.lease_minutes * 60
        connection.execute(update(tasks).where(tasks.c.id == held["id"]).values(lease_until=until))
        return Step("task", read_task(connection, held), **progress)
    if remaining <= 0:
        if person["finished"] is None:
            change = update(people).where(people.c.id == person["id"])
            connection.execute(change.values(finished=now))
        return Step("done", **{**progress, "left": 0})
    # A lease that lapsed leaves its row behind, which is not counted again.
    position = len(answered) + 1
    due = known.due(person["plan"]["checks"], rated, set(mine))
    if due:
        unit, kind, flip = due[0]
        row = _lease(store, connection, person["id"], unit, kind, position, flip)
        return Step("task", read_task(connection, row), **progress)
    unit = free[0]
    store.locked(connection, units, unit)
    if taken(connection, unit, now) >= config.study.ratings:
        raise _Retry
    flip = person["plan"]["flipped"][known.number[unit]] == "1"
    row = _lease(store, connection, person["id"], unit, "item", position, flip, mine.get(unit))
    return Step("task", read_task(connection, row), **progress)


def _live(row: Any, now: float) -> bool:
    return row["kind"] != "item" or row["lease_until"] > now


def _lease(
    store: Store,
    connection: Connection,
    annotator_id: int,
    unit_id: int,
    kind: str,
    position: int,
    flipped: bool,
    lapsed: Any = None,
) -> Any:
    """Lease a unit to an annotator, anew where an earlier lease of theirs lapsed."""
    now = store.now()
    values: dict[str, Any] = {
        "code": secrets.token_urlsafe(12),
        "position": position,
        "flipped": flipped and store.config.pairwise,
        "lease_until": now + store.config.study.lease_minutes * 60,
        "shown": now,
    }
    if lapsed is not None:
        row_id = lapsed["id"]
        del values["code"]
        connection.execute(update(tasks).where(tasks.c.id == row_id).values(**values))
    else:
        values |= {"annotator_id": annotator_id, "unit_id": unit_id, "kind": kind}
        done = connection.execute(insert(tasks).values(**values))
        row_id = _key(done)
    return connection.execute(select(tasks).where(tasks.c.id == row_id)).mappings().one()


def _key(done: Any) -> int:
    return int(done.inserted_primary_key[0])


def _median(seconds: list[float]) -> float | None:
    return sorted(seconds)[len(seconds) // 2] if seconds else None
