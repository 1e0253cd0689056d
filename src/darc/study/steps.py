"""What an annotator is shown next."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median_high
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from darc.study import schema
from darc.study.leases import (
    LeaseRequest,
    Task,
    count_taken_slots,
    full_units,
    lease_end,
    lease_unit,
    read_task,
)
from darc.study.open_slots import OpenSlots
from darc.study.schema import LEARNING, change
from darc.study.store import Store
from darc.study.waves import has_ended, plan_next_wave

Row = Mapping[Any, Any]

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators


@dataclass(frozen=True)
class Step:
    """Where an annotator is."""

    #: consent, groups, instructions, comprehension, task, feedback, wait (for the next wave), done,
    #: excluded, ended (failed the comprehension check), closed, or enrol.
    name: str
    #: What is to be answered, or was answered at the feedback.
    task: Task | None = None
    #: How many tasks the annotator has answered.
    done: int = 0
    #: How many tasks are left, including this one.
    left: int = 0
    #: The median time that the annotator took for a task.
    seconds_each: float | None = None
    #: How often the annotator has failed the comprehension check.
    tries: int = 0
    #: Whether all ratings of the wave of an adaptive study are there.
    is_wave_over: bool = False


class _PlannedCheck(NamedTuple):
    """A check in the plan of an annotator."""

    #: How many items are rated before it.
    items_before: int
    kind: str
    unit_id: int
    flipped: bool


def next_step(store: Store, annotator_id: int) -> Step:
    """Find out where an annotator is, and lease a free unit to them if they are to rate one.

    The same unit is returned until it is answered. This is one transaction, which begins again if
    another annotator took the last slot of the unit in between.

    Args:
        store: The study.
        annotator_id: The id of the annotator's row.

    Returns:
        The step.
    """
    while True:
        with store.write() as connection:
            step = _find_step(store, connection, annotator_id)
        if step is None:
            continue
        if step.is_wave_over and plan_next_wave(store) and step.name == "wait":
            continue
        return step


def _find_step(store: Store, connection: Connection, annotator_id: int) -> Step | None:
    """The step; None if the unit was taken between looking for it and locking it."""
    person = store.locked(connection, _annotators, annotator_id)
    if schema.study_row(connection)["closed"] is not None:
        return _closing_step(person)
    if person["excluded"] is not None:
        if person["exclusion_reason"] == "comprehension":
            return Step("ended")
        return Step("excluded")
    introduction = _introduction_step(store, person)
    if introduction is not None:
        return introduction
    query = select(_tasks).where(_tasks.c.annotator_id == annotator_id).order_by(_tasks.c.id)
    tasks = {row["unit_id"]: row for row in connection.execute(query).mappings()}
    learning = _learning_step(store, connection, annotator_id, tasks)
    if learning is not None:
        return learning
    return _RatingWork(store, connection, person, tasks).next_step()


def _closing_step(person: Row) -> Step:
    """The step after the study was closed."""
    # Whoever finished still finds the last page, which may hold their completion code.
    if person["finished"] is not None and person["excluded"] is None:
        return Step("done")
    return Step("closed")


def _introduction_step(store: Store, person: Row) -> Step | None:
    """The first step before the tasks that the annotator has not taken yet, if there is one."""
    config = store.config
    if person["consented"] is None:
        return Step("consent")
    if config.groups and person["groups"] is None:
        return Step("groups")
    if person["instructed"] is None:
        return Step("instructions")
    # Whoever the lead has reinstated need not take the comprehension check again.
    if config.comprehension and not person["kept"] and person["understood"] is None:
        return Step("comprehension", tries=person["tries"])
    return None


def _learning_step(
    store: Store, connection: Connection, annotator_id: int, tasks: Mapping[int, Row]
) -> Step | None:
    """The first training or calibration task that is not done, or its feedback, if there is one."""
    units = [(kind, unit_id) for kind in LEARNING for unit_id in store.unit_ids[kind]]
    for place, (kind, unit_id) in enumerate(units):
        row = tasks.get(unit_id)
        if row is None:
            request = LeaseRequest(
                annotator_id=annotator_id,
                unit_id=unit_id,
                kind=kind,
                position=place + 1,
                flipped=place % 2 == 1,
            )
            row = lease_unit(store, connection, request)
        if not row["seen"]:
            name = "task" if row["answered"] is None else "feedback"
            return Step(name, read_task(connection, row), done=place, left=len(units) - place)
    return None


class _RatingWork:
    """The items and checks of an annotator who has learnt enough.

    Args:
        store: The study.
        connection: A transaction that writes.
        person: The annotator's row, locked.
        tasks: The annotator's tasks by unit, oldest first.
    """

    def __init__(
        self, store: Store, connection: Connection, person: Row, tasks: Mapping[int, Row]
    ) -> None:
        self._store = store
        self._connection = connection
        self._person = person
        self._tasks = tasks
        self._now = store.now()
        #: The open slots of an adaptive study.
        self._slots: OpenSlots | None = None
        self._items = store.unit_ids["item"]
        rating_tasks = [row for row in tasks.values() if row["kind"] not in LEARNING]
        self._answered = [row for row in rating_tasks if row["answered"] is not None]
        self._held = self._find_held([row for row in rating_tasks if row["answered"] is None])
        self._rated_items = sum(
            row["kind"] == "item" and row["answer"] is not None for row in self._answered
        )
        self._free_items = self._find_free_items()
        self._remaining_items = self._count_remaining_items()
        self._checks_ahead = self._find_checks_ahead()

    def next_step(self) -> Step | None:
        """The step; None if the item was taken between looking for it and locking it."""
        progress = self._progress()
        if self._held is not None:
            change(self._connection, _tasks, self._held["id"], lease_until=lease_end(self._store))
            return replace(progress, task=read_task(self._connection, self._held))
        if self._remaining_items <= 0:
            progress = replace(progress, is_wave_over=self._is_wave_over())
            if self._may_be_asked_later():
                return replace(progress, name="wait", left=0)
            if self._person["finished"] is None:
                change(self._connection, _annotators, self._person["id"], finished=self._now)
            return replace(progress, name="done", left=0)
        request = self._next_request()
        if request is None:
            return None
        # A lease that has lapsed leaves its row behind, which does not take a slot.
        lapsed = self._tasks.get(request.unit_id)
        row = lease_unit(self._store, self._connection, request, lapsed)
        return replace(progress, task=read_task(self._connection, row))

    def _find_held(self, unanswered: list[Row]) -> Row | None:
        """The task that the annotator still holds; leases of checks do not lapse."""
        for row in unanswered:
            if row["kind"] != "item" or row["lease_until"] > self._now:
                return row
        return None

    def _holds_item(self) -> bool:
        return self._held is not None and self._held["kind"] == "item"

    def _find_free_items(self) -> list[int]:
        """The numbers of the items that the annotator may rate now, in their order."""
        if self._store.config.is_adaptive:
            return self._find_slots()
        unavailable = full_units(self._connection, self._now)
        unavailable |= {row["unit_id"] for row in self._answered}
        order = self._person["plan"]["order"]
        return [number for number in order if self._items[number] not in unavailable]

    def _find_slots(self) -> list[int]:
        """The items of waves: those of the prompt begun, the annotator's own, those of others."""
        slots = OpenSlots.read(self._store, self._connection)
        self._slots = slots
        own = slots.own(self._person["number"])
        others = slots.others(self._person["number"])
        prompts = self._store.item_prompts
        current = None
        rated = [row for row in self._answered if row["kind"] == "item"]
        if rated:
            current = prompts[max(rated, key=lambda row: row["sequence"])["unit_id"]]
        # The plan's order is random, for prompts as for the items of a prompt.
        places = {self._items[n]: i for i, n in enumerate(self._person["plan"]["order"])}
        first_places: dict[int, int] = {}
        for unit_id, place in places.items():
            prompt = prompts[unit_id]
            first_places[prompt] = min(place, first_places.get(prompt, place))
        keys = {
            unit.unit_id: (unit.prompt != current, is_other, first_places[unit.prompt])
            for is_other, units in enumerate((own, others))
            for unit in units
        }
        unit_ids = sorted(keys, key=lambda unit_id: (keys[unit_id], places[unit_id]))
        numbers = {unit_id: number for number, unit_id in enumerate(self._items)}
        return [numbers[unit_id] for unit_id in unit_ids]

    def _is_wave_over(self) -> bool:
        slots = self._slots
        return slots is not None and not any(slots.can_be_filled(unit) for unit in slots.units)

    def _may_be_asked_later(self) -> bool:
        """Whether a later wave may ask the annotator, who has not said that they are done."""
        config = self._store.config
        if not config.is_adaptive or self._person["finished"] is not None:
            return False
        if config.study.items_each and self._rated_items >= config.study.items_each:
            return False
        seen = sum(row["kind"] == "item" for row in self._answered)
        return seen < len(self._items) and not has_ended(self._connection)

    def _count_remaining_items(self) -> int:
        """How many items the annotator will still rate; at most 0 if they are done."""
        limit = self._store.config.study.items_each or len(self._items)
        available = len(self._free_items) + self._holds_item()
        return min(limit - self._rated_items, available)

    def _find_checks_ahead(self) -> list[_PlannedCheck]:
        """The checks among the remaining items that were not shown yet."""
        units = [
            (kind, unit_id)
            for kind in ("attention", "gold")
            for unit_id in self._store.unit_ids[kind]
        ]
        last_item = self._rated_items + self._remaining_items
        ahead = []
        for items_before, number, flipped in self._person["plan"]["checks"]:
            kind, unit_id = units[number]
            if items_before < last_item and unit_id not in self._tasks:
                ahead.append(_PlannedCheck(items_before, kind, unit_id, bool(flipped)))
        return ahead

    def _progress(self) -> Step:
        """A step that says how far the annotator is."""
        seconds = [row["milliseconds"] / 1000 for row in self._answered]
        holds_check = self._held is not None and not self._holds_item()
        return Step(
            "task",
            done=len(self._answered),
            left=self._remaining_items + len(self._checks_ahead) + holds_check,
            seconds_each=median_high(seconds) if seconds else None,
        )

    def _next_request(self) -> LeaseRequest | None:
        """What is to be leased next: a check that is due, or an item unless it was just taken."""
        position = len(self._answered) + 1
        annotator_id = self._person["id"]
        if self._checks_ahead and self._checks_ahead[0].items_before <= self._rated_items:
            check = self._checks_ahead[0]
            return LeaseRequest(annotator_id, check.unit_id, check.kind, position, check.flipped)
        number = self._free_items[0]
        unit_id = self._items[number]
        flipped = self._person["plan"]["flipped"][number] == "1"
        unit = self._store.locked(self._connection, _units, unit_id)
        taken_slots = count_taken_slots(self._connection, unit_id, self._now)
        if taken_slots >= unit["wanted"]:
            return None
        if self._slots is not None:
            self._slots.take_over(self._connection, self._person["number"], unit_id)
        return LeaseRequest(annotator_id, unit_id, "item", position, flipped)
