"""Where a study stands: items, annotators, flags and agreement, without naming systems."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.quality import Alpha, Care, agreement, care, disagreement
from darc.study.schema import note
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.study.wave_status import AdaptiveStatus, adaptive_status

Row = Mapping[Any, Any]

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators

# The state of an annotator, by the first of these columns that has a value.
_STATES = {
    "erased": "erased",
    "excluded": "excluded",
    "finished": "finished",
    "consented": "working",
    "token_hash": "invited",
}


@dataclass(frozen=True)
class ItemStatus:
    """An item as the lead may see it."""

    #: What the lead sees of the item while the study is open.
    label: str
    #: The number of valid ratings.
    valid: int
    #: How many are asked for so far; in a fixed design, in all.
    wanted: int
    #: The number of annotators who are looking at it.
    leased: int
    #: The number of ratings that do not count.
    set_aside: int
    skipped: int
    disagreement: float
    #: Empty while the study is open.
    prompt_id: str = ""
    #: The systems, separated by a slash; empty while the study is open.
    candidates: str = ""


@dataclass(frozen=True)
class PersonStatus:
    """An annotator as the lead may see them."""

    #: The pseudonym.
    name: str
    #: no link, invited, working, finished, excluded or erased.
    state: str
    #: Why they are excluded.
    reason: str
    care: Care
    #: Whether the lead looked at the flags and dismissed them.
    cleared: bool

    @property
    def flagged(self) -> bool:
        """Whether there are flags that the lead has not dismissed."""
        return bool(self.care.flags) and not self.cleared


@dataclass(frozen=True)
class Status:
    """A study as its lead may see it."""

    title: str
    mode: str
    #: How many valid ratings an item needs; in an adaptive study, would need in a fixed design.
    ratings: int
    closed: bool
    items: tuple[ItemStatus, ...]
    people: tuple[PersonStatus, ...]
    #: The agreement of all ratings.
    before: Alpha
    #: The agreement of the valid ratings, after exclusions.
    after: Alpha
    #: The waves; None in a fixed design.
    adaptive: AdaptiveStatus | None = None

    @property
    def complete(self) -> int:
        """How many items have all their ratings."""
        return sum(item.valid >= item.wanted for item in self.items)

    @property
    def ranked(self) -> list[ItemStatus]:
        """The items, most disagreement first, those of unknown disagreement last."""
        return sorted(self.items, key=lambda item: -np.nan_to_num(item.disagreement, nan=-1.0))

    @property
    def wanted_ratings(self) -> int:
        """How many valid ratings are asked for so far; in a fixed design, in all."""
        return sum(item.wanted for item in self.items)

    @property
    def valid_ratings(self) -> int:
        """How many valid ratings there are."""
        return sum(item.valid for item in self.items)


class _TaskCounts:
    """Counts of tasks, gathered in one pass over them."""

    def __init__(self, now: float) -> None:
        self._now = now
        self.valid: Counter[int] = Counter()
        self.leased: Counter[int] = Counter()
        self.set_aside: Counter[int] = Counter()
        self.skipped: Counter[int] = Counter()
        #: The rated items.
        self.ratings: list[Row] = []
        #: The answered tasks of each annotator.
        self.answers: defaultdict[int, list[Row]] = defaultdict(list)

    def add(self, row: Row) -> None:
        if row["answered"] is not None:
            self.answers[row["annotator_id"]].append(row)
        if row["kind"] != "item":
            return
        unit_id = row["unit_id"]
        if row["answer"] is not None:
            self.ratings.append(row)
            if row["valid"]:
                self.valid[unit_id] += 1
            else:
                self.set_aside[unit_id] += 1
        elif row["answered"] is not None:
            self.skipped[unit_id] += 1
        elif row["lease_until"] > self._now:
            self.leased[unit_id] += 1


def status(store: Store) -> Status:
    """Read where a study stands now; O(answers).

    Args:
        store: The study.

    Returns:
        What its lead may see.
    """
    config = store.config
    counts = _TaskCounts(store.now())
    with store.read() as connection:
        closed = schema.study_row(connection)["closed"] is not None
        items = connection.execute(_select_items()).mappings().all()
        for row in connection.execute(schema.whole_tasks().order_by(_tasks.c.id)).mappings():
            counts.add(row)
        people = connection.execute(select(_annotators).order_by(_annotators.c.id))
        people_rows = people.mappings().all()
        adaptive = adaptive_status(store, connection, closed)
    before, after = agreement(counts.ratings, config.pairwise, config.study.seed)
    return Status(
        title=config.study.title,
        mode=config.study.mode,
        ratings=config.study.ratings,
        closed=closed,
        items=_item_statuses(items, counts, config, closed),
        people=tuple(_person_status(row, counts.answers[row["id"]], config) for row in people_rows),
        before=before,
        after=after,
        adaptive=adaptive,
    )


def _select_items() -> Any:
    columns = (
        _units.c.id,
        _units.c.label,
        _units.c.prompt_id,
        _units.c.first_id,
        _units.c.second_id,
        _units.c.wanted,
    )
    return select(*columns).where(_units.c.kind == "item")


def _item_statuses(
    items: Iterable[Row], counts: _TaskCounts, config: StudySettings, closed: bool
) -> tuple[ItemStatus, ...]:
    """The items in the order of their labels, which tells nothing of prompts and systems."""
    disagreements = disagreement(counts.ratings, config.pairwise)
    statuses = []
    for row in items:
        unit_id = row["id"]
        prompt_id = ""
        candidates = ""
        if closed:
            prompt_id = row["prompt_id"]
            candidates = " / ".join(filter(None, (row["first_id"], row["second_id"])))
        item = ItemStatus(
            label=row["label"],
            valid=counts.valid[unit_id],
            wanted=row["wanted"],
            leased=counts.leased[unit_id],
            set_aside=counts.set_aside[unit_id],
            skipped=counts.skipped[unit_id],
            disagreement=disagreements.get(unit_id, np.nan),
            prompt_id=prompt_id,
            candidates=candidates,
        )
        statuses.append(item)
    return tuple(sorted(statuses, key=lambda item: int(item.label.split()[-1])))


def _person_status(row: Row, answers: Sequence[Row], config: StudySettings) -> PersonStatus:
    states = [state for column, state in _STATES.items() if row[column] is not None]
    return PersonStatus(
        name=row["name"],
        state=states[0] if states else "no link",
        reason=row["exclusion_reason"],
        care=care(answers, config.quality, config.training.calibration_share),
        cleared=row["cleared"],
    )


def close(store: Store, *, force: bool = True) -> int:
    """Close a study: no more answers are taken, and the lead sees which system wrote what.

    Args:
        store: The study.
        force: Close it although items lack ratings.

    Returns:
        How many items lack ratings.

    Raises:
        InputError: Items lack ratings and `force` is not given, or the study is closed already.
    """
    current = status(store)
    lacking = len(current.items) - current.complete
    has_waves_left = current.adaptive is not None and not current.adaptive.ending
    if has_waves_left and not lacking and not force and not current.closed:
        raise InputError("more waves may come", "wait for them, or add --force")
    if lacking and not force and not current.closed:
        raise InputError(
            f"{lacking} of {len(current.items)} items lack ratings", "wait for them, or add --force"
        )
    with store.write() as connection:
        if schema.study_row(connection)["closed"] is not None:
            raise InputError("the study is closed already", "export it with: darc study export")
        connection.execute(update(schema.study).values(closed=store.now()))
        note(connection, store.now(), "lead", "closed", "study")
    return lacking
