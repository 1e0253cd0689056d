"""Who may give which of the ratings that an adaptive study waits for."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, func, select

from darc.study import schema
from darc.study.store import Store
from darc.study.wave_planning import rater_order

Row = Mapping[Any, Any]

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators
_requests = schema.requests
_waves = schema.waves

#: Whoever answered within this time is still at work.
_PAUSE_SECONDS = 60.0


@dataclass
class People:
    """The annotators, by their numbers."""

    #: How many there ever were.
    count: int
    #: Those who may rate: not excluded, not erased, and below their cap.
    eligible: set[int]
    #: Those of them who have begun.
    started: set[int]
    #: Those who have something before them now, or had a moment ago.
    at_work: set[int]
    #: How many further people may come.
    newcomers: int
    #: The id of each, by number.
    ids: dict[int, int]


@dataclass
class PendingUnit:
    """An item that has fewer valid ratings than are wanted."""

    unit_id: int
    prompt: int
    #: How many ratings are wanted that nobody has given or holds a lease for.
    slots: int
    #: Who has had it before, or holds a lease for it.
    seen: set[int] = field(default_factory=set)
    #: Whom waves asked for it and who took it over, the last one first.
    assigned: list[int] = field(default_factory=list)
    is_leased: bool = False


class OpenSlots:
    """The ratings that an adaptive study waits for, and who may give them.

    A slot belongs to whom its wave asked, or to the next in the prompt's order of raters who has
    not had the item. Others may take it over while its rater is not at work, so that nobody is
    waited for who is away; whoever does so takes over all slots of the prompt.

    Args:
        people: The annotators.
        units: The items with fewer valid ratings than are wanted.
        seed: The seed of the study.
    """

    def __init__(self, people: People, units: list[PendingUnit], seed: int) -> None:
        self.people = people
        self.units = units
        self._seed = seed

    @classmethod
    def read(cls, store: Store, connection: Connection) -> "OpenSlots":
        """Read them as they are now; O(ratings of the items that lack some)."""
        now = store.now()
        units = _read_units(store, connection)
        people = read_people(store, connection)
        numbers = {annotator_id: number for number, annotator_id in people.ids.items()}
        # One query, because there may be more units than a query takes parameters.
        query = select(
            _tasks.c.unit_id,
            _tasks.c.annotator_id,
            _tasks.c.answered,
            _tasks.c.valid,
            _tasks.c.lease_until,
        ).where(_tasks.c.kind == "item")
        for row in connection.execute(query):
            unit = units.get(row.unit_id)
            if unit is None:
                continue
            is_leased = row.answered is None and row.lease_until > now
            if is_leased:
                unit.is_leased = True
            if is_leased or row.valid:
                unit.slots -= 1
            if is_leased or row.answered is not None:
                unit.seen.add(numbers[row.annotator_id])
        assigned = select(_requests.c.unit_id, _requests.c.annotator_id)
        for unit_id, annotator_id in connection.execute(assigned.order_by(_requests.c.id)):
            if unit_id in units and annotator_id is not None:
                units[unit_id].assigned.insert(0, numbers[annotator_id])
        return cls(people, list(units.values()), store.config.study.seed)

    def responsible(self, unit: PendingUnit) -> list[int]:
        """Whose turn it is to rate an item: one annotator per open slot, if there are as many."""
        asked = [number for number in unit.assigned if self._may_rate(unit, number)]
        if len(asked) < unit.slots:
            order = rater_order(self._seed, unit.prompt, self.people.count)
            others = [
                number for number in order if number not in asked and self._may_rate(unit, number)
            ]
            asked += others
        return asked[: max(unit.slots, 0)]

    def own(self, number: int) -> list[PendingUnit]:
        """The items that it is an annotator's turn to rate."""
        return [unit for unit in self.units if number in self.responsible(unit)]

    def others(self, number: int) -> list[PendingUnit]:
        """The items that an annotator may rate in place of others, who are not at work."""
        units = []
        for unit in self.units:
            if unit.slots <= 0 or not self._may_rate(unit, number):
                continue
            responsible = self.responsible(unit)
            is_waited_for = all(rater in self.people.at_work for rater in responsible)
            if number not in responsible and not (is_waited_for and responsible):
                units.append(unit)
        return units

    def take_over(self, connection: Connection, number: int, unit_id: int) -> None:
        """Let an annotator take over an item, with all others of its prompt that they may take."""
        units = self.others(number)
        prompts = {unit.prompt for unit in units if unit.unit_id == unit_id}
        wave = connection.execute(select(func.max(_waves.c.number))).scalar_one()
        for unit in units:
            if unit.prompt in prompts:
                schema.add_row(
                    connection,
                    _requests,
                    wave=wave,
                    unit_id=unit.unit_id,
                    annotator_id=self.people.ids[number],
                    taken_over=True,
                )

    def can_be_filled(self, unit: PendingUnit) -> bool:
        """Whether somebody is rating an item, or may still do so."""
        if unit.is_leased or self.people.newcomers:
            return True
        return any(self._may_rate(unit, number) for number in self.people.eligible)

    def _may_rate(self, unit: PendingUnit, number: int) -> bool:
        return number in self.people.eligible and number not in unit.seen


def read_people(store: Store, connection: Connection) -> People:
    """Read who may rate and who is at work."""
    query = select(
        _annotators.c.id,
        _annotators.c.number,
        _annotators.c.excluded,
        _annotators.c.erased,
        _annotators.c.consented,
    )
    rows = connection.execute(query.order_by(_annotators.c.number)).all()
    capped = _capped_annotators(store, connection)
    is_leased = _tasks.c.answered.is_(None) & (_tasks.c.lease_until > store.now())
    has_just_answered = _tasks.c.answered > store.now() - _PAUSE_SECONDS
    busy = select(_tasks.c.annotator_id).where(is_leased | has_just_answered).distinct()
    working = set(connection.execute(busy).scalars())
    newcomers = 0
    if store.config.panel is None:
        newcomers = max(0, store.config.study.most - len(rows))
    eligible = [
        row for row in rows if row.excluded is None and row.erased is None and row.id not in capped
    ]
    return People(
        count=max((row.number for row in rows), default=-1) + 1,
        eligible={row.number for row in eligible},
        started={row.number for row in eligible if row.consented is not None},
        at_work={row.number for row in rows if row.id in working},
        newcomers=newcomers,
        ids={row.number: row.id for row in rows},
    )


def _read_units(store: Store, connection: Connection) -> dict[int, PendingUnit]:
    """The items with fewer valid ratings than are wanted, by id; no slot is counted as taken."""
    is_valid = _tasks.c.valid & (_tasks.c.unit_id == _units.c.id)
    count = select(func.count()).select_from(_tasks).where(is_valid).scalar_subquery()
    query = select(_units.c.id, _units.c.wanted).where(_units.c.kind == "item")
    query = query.where(count < _units.c.wanted).order_by(_units.c.number)
    prompts = store.item_prompts
    return {
        unit_id: PendingUnit(unit_id, prompts[unit_id], wanted)
        for unit_id, wanted in connection.execute(query)
    }


def _capped_annotators(store: Store, connection: Connection) -> set[int]:
    """The ids of the annotators who have rated as many items as one annotator may."""
    cap = store.config.study.items_each
    if not cap:
        return set()
    query = select(_tasks.c.annotator_id).where(
        _tasks.c.kind == "item", _tasks.c.answer.is_not(None)
    )
    counts: defaultdict[int, int] = defaultdict(int)
    for annotator_id in connection.execute(query).scalars():
        counts[annotator_id] += 1
    return {annotator_id for annotator_id, count in counts.items() if count >= cap}
