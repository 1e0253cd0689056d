"""The waves of an adaptive study, as the database holds them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select, update

from darc.decide.ids import UNKNOWN
from darc.errors import InputError
from darc.study import schema
from darc.study.items import Unit
from darc.study.open_slots import OpenSlots, PendingUnit, People, read_people
from darc.study.schema import note
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.study.wave_planning import (
    LEAST_VALUE,
    WAVE_SHARE,
    Belief,
    Crowd,
    StudyRatings,
    WaveRequest,
    believe,
    pilot_counts,
    plan_wave,
    rater_order,
)
from darc.typing import Array, Integers

Row = Mapping[Any, Any]
#: The numbers of a prompt and of its candidate.
Place = tuple[int, int]

_tasks = schema.tasks
_units = schema.units
_waves = schema.waves
_requests = schema.requests


@dataclass(frozen=True, eq=False)
class AdaptiveState:
    """Where an adaptive study stands at one moment."""

    #: The id of each prompt.
    prompt_ids: Sequence[str]
    #: The units of each prompt, and the systems that wrote them.
    unit_ids: Sequence[Sequence[int]]
    candidate_ids: Sequence[Sequence[str]]
    #: How many ratings are asked for so far, and how many there are, (P, K).
    wanted: Integers
    valid: Integers
    data: StudyRatings
    crowd: Crowd
    #: The waves so far, the pilot first.
    waves: Sequence[Row]
    #: The ids of annotators by number.
    annotator_ids: Mapping[int, int]
    #: Whether some who may rate have not begun yet.
    awaits_people: bool

    @property
    def is_rated(self) -> bool:
        """Whether every candidate has been rated."""
        return bool((self.valid > 0)[self.data.is_candidate].all())


def item_wants(config: StudySettings, items: Sequence[Unit]) -> list[int]:
    """How many valid ratings each item is to get at first.

    Args:
        config: The study's settings.
        items: The units to be rated.

    Returns:
        The ratings of the pilot in an adaptive study, all of them in a fixed design.

    Raises:
        InputError: An adaptive study has nothing to choose between, or a budget below its pilot.
    """
    if not config.is_adaptive:
        return [config.study.ratings] * len(items)
    numbers: dict[str, int] = {}
    prompts = [numbers.setdefault(item.prompt_id, len(numbers)) for item in items]
    if len(numbers) == len(items):
        raise InputError(
            "an adaptive study chooses between answers, and every prompt has one only",
            'give several answers per prompt, or write design = "fixed"',
        )
    counts = pilot_counts(len(numbers), config.study.seed)
    wants = [int(counts[prompt]) for prompt in prompts]
    pilot = sum(wants)
    if pilot > budget_of(config, len(items)):
        raise InputError(
            f"adaptive.budget is {config.adaptive.budget}, and the pilot takes {pilot} ratings",
            "raise it, or write 0 for as many as the fixed design takes",
        )
    return wants


def budget_of(config: StudySettings, items: int) -> int:
    """How many ratings an adaptive study asks for at most."""
    return config.adaptive.budget or items * config.study.ratings


def add_pilot(store: Store, connection: Connection, wants: Sequence[int]) -> None:
    """Write down the pilot of a new adaptive study."""
    schema.add_row(connection, _waves, number=0, planned=store.now(), ratings=sum(wants))


def has_ended(connection: Connection) -> bool:
    """Whether an adaptive study asks for no further ratings."""
    last = _last_wave(connection)
    return last is not None and bool(last["ending"])


def plan_next_wave(store: Store) -> bool:
    """Plan the next wave of an adaptive study if the ratings of the last one are there.

    The plan is computed from one state of the database, outside of any lock of it, and is written
    with all that belongs to it in one transaction, unless somebody else has done so meanwhile.

    Args:
        store: The study.

    Returns:
        Whether the study has come to another wave, or to its end, since the call began.
    """
    if not store.config.is_adaptive:
        return False
    with store.read() as connection:
        before = _last_wave(connection)
    with store.planning_turn:
        with store.read() as connection:
            last = _last_wave(connection)
            slots = _slots_if_due(store, connection)
            if slots is None or last is None:
                return last != before
            state = read_state(store, connection)
        belief = believe(state.data)
        requests = next_requests(store.config, state, belief)
        ending = "" if requests else why_none(store.config, state, belief)
        if ending == "raters" and state.awaits_people:
            # Those who have begun have rated all that is worth a rating; others may still come.
            return False
        with store.write() as connection:
            store.locked(connection, schema.study, 1)
            now = _last_wave(connection)
            slots = _slots_if_due(store, connection)
            if now != last or slots is None:
                return now != before
            _withdraw(connection, slots.units, state)
            _write_wave(store, connection, state, requests, ending)
    return True


def read_state(store: Store, connection: Connection) -> AdaptiveState:
    """Read where an adaptive study stands; O(answers)."""
    columns = (_units.c.id, _units.c.prompt_id, _units.c.first_id, _units.c.wanted)
    query = select(*columns).where(_units.c.kind == "item").order_by(_units.c.number)
    items: defaultdict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(query):
        items[row.prompt_id].append(row)
    shape = (len(items), max(map(len, items.values())))
    wanted = np.zeros(shape, dtype=np.int64)
    is_candidate = np.zeros(shape, dtype=bool)
    places: dict[int, Place] = {}
    for prompt, rows in enumerate(items.values()):
        for candidate, row in enumerate(rows):
            places[row.id] = (prompt, candidate)
            wanted[prompt, candidate] = row.wanted
            is_candidate[prompt, candidate] = True
    people = read_people(store, connection)
    answers = _read_answers(connection, places, people)
    seed = store.config.study.seed
    ratings, raters = _as_arrays(answers.valid, shape)
    order = [
        [number for number in rater_order(seed, prompt, people.count) if number in people.started]
        for prompt in range(len(items))
    ]
    return AdaptiveState(
        prompt_ids=list(items),
        unit_ids=[[row.id for row in rows] for rows in items.values()],
        candidate_ids=[[row.first_id for row in rows] for rows in items.values()],
        wanted=wanted,
        valid=np.asarray(np.isfinite(ratings).sum(axis=-1)),
        data=StudyRatings(
            ratings=ratings,
            raters=raters,
            is_candidate=is_candidate,
            pilot=pilot_counts(len(items), seed),
            predicted=np.zeros(shape),
        ),
        crowd=Crowd(order, answers.seen, people.newcomers),
        waves=connection.execute(select(_waves).order_by(_waves.c.number)).mappings().all(),
        annotator_ids=people.ids,
        awaits_people=bool(people.newcomers or people.eligible - people.started),
    )


class _Answers(NamedTuple):
    """The answers to items, by prompt and candidate."""

    #: The annotators who answered or skipped it.
    seen: dict[Place, set[int]]
    #: Its valid ratings with their annotators, in the order in which they came.
    valid: dict[Place, list[tuple[float, int]]]


def _read_answers(connection: Connection, places: Mapping[int, Place], people: People) -> _Answers:
    numbers = {annotator_id: number for number, annotator_id in people.ids.items()}
    seen: defaultdict[Place, set[int]] = defaultdict(set)
    valid: defaultdict[Place, list[tuple[float, int]]] = defaultdict(list)
    query = select(_tasks).where(_tasks.c.kind == "item", _tasks.c.answered.is_not(None))
    for row in connection.execute(query.order_by(_tasks.c.answered, _tasks.c.id)).mappings():
        place = places[row["unit_id"]]
        number = numbers[row["annotator_id"]]
        seen[place].add(number)
        if row["valid"]:
            valid[place].append((row["answer"], number))
    return _Answers(seen, valid)


def _as_arrays(
    valid: Mapping[Place, Sequence[tuple[float, int]]], shape: tuple[int, int]
) -> tuple[Array, Integers]:
    """The valid ratings and their annotators, (P, K, n) each."""
    most = max(map(len, valid.values()), default=1)
    ratings = np.full((*shape, most), np.nan)
    raters = np.full((*shape, most), UNKNOWN, dtype=np.int64)
    for (prompt, candidate), answers in valid.items():
        for turn, (answer, number) in enumerate(answers):
            ratings[prompt, candidate, turn] = answer
            raters[prompt, candidate, turn] = number
    return ratings, raters


def next_requests(config: StudySettings, state: AdaptiveState, belief: Belief) -> list[WaveRequest]:
    """The ratings that the next wave would ask for by what is known now.

    Args:
        config: The study's settings.
        state: Where the study stands.
        belief: What the ratings say.
    """
    planned = int(state.data.is_candidate.sum()) * config.study.ratings
    return plan_wave(
        belief=belief,
        crowd=state.crowd,
        is_candidate=state.data.is_candidate,
        size=math.ceil(WAVE_SHARE * planned),
        budget=_budget_left(config, state),
        price=config.adaptive.price,
    )


def why_none(config: StudySettings, state: AdaptiveState, belief: Belief) -> str:
    """Why there is no rating to ask for: price, budget or raters."""
    least = max(config.adaptive.price, LEAST_VALUE)
    if not (belief.value() >= least).any():
        return "price"
    room = state.crowd.room(state.data.is_candidate)
    if (belief.value(room) >= least).any():
        return "budget"
    return "raters"


def _budget_left(config: StudySettings, state: AdaptiveState) -> int:
    items = int(state.data.is_candidate.sum())
    return budget_of(config, items) - int(state.wanted.sum())


def _last_wave(connection: Connection) -> Row | None:
    query = select(_waves).order_by(_waves.c.number.desc()).limit(1)
    row = connection.execute(query).mappings().first()
    return None if row is None else dict(row)


def _slots_if_due(store: Store, connection: Connection) -> OpenSlots | None:
    """The open slots, which nobody is left to fill, if it is time for the next wave."""
    if schema.study_row(connection)["closed"] is not None or has_ended(connection):
        return None
    slots = OpenSlots.read(store, connection)
    if any(slots.can_be_filled(unit) for unit in slots.units):
        return None
    if _has_unrated_items(store, connection):
        return None
    return slots


def _has_unrated_items(store: Store, connection: Connection) -> bool:
    rated = select(_tasks.c.unit_id).where(_tasks.c.kind == "item", _tasks.c.valid).distinct()
    return len(connection.execute(rated).all()) < len(store.unit_ids["item"])


def _withdraw(connection: Connection, units: Sequence[PendingUnit], state: AdaptiveState) -> None:
    """Ask no more for ratings that nobody is left to give."""
    places = _places(state)
    for unit in units:
        valid = int(state.valid[places[unit.unit_id]])
        connection.execute(update(_units).where(_units.c.id == unit.unit_id).values(wanted=valid))


def _write_wave(
    store: Store,
    connection: Connection,
    state: AdaptiveState,
    requests: Sequence[WaveRequest],
    ending: str,
) -> None:
    number = int(state.waves[-1]["number"]) + 1
    now = store.now()
    schema.add_row(
        connection, _waves, number=number, planned=now, ratings=len(requests), ending=ending
    )
    rows: list[dict[str, Any]] = []
    for request in requests:
        annotator_id = None
        if request.rater is not None:
            annotator_id = state.annotator_ids[request.rater]
        unit_id = state.unit_ids[request.prompt][request.candidate]
        rows.append({"wave": number, "unit_id": unit_id, "annotator_id": annotator_id})
    for row in sorted(rows, key=lambda row: row["unit_id"]):
        connection.execute(_requests.insert().values(**row))
        wanted = {"wanted": _units.c.wanted + 1}
        connection.execute(update(_units).where(_units.c.id == row["unit_id"]).values(**wanted))
    detail = f"{len(requests)} ratings"
    if ending:
        detail = f"no more ratings: {ending}"
    note(connection, now, "study", "planned", f"wave {number}", detail)


def _places(state: AdaptiveState) -> dict[int, Place]:
    return {
        unit_id: (prompt, candidate)
        for prompt, units in enumerate(state.unit_ids)
        for candidate, unit_id in enumerate(units)
    }
