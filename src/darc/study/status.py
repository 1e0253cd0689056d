"""Where a study stands: items, annotators, flags and agreement, without telling systems apart."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.agreement import Alpha, Rating, agreement, disagreement
from darc.study.claims import counted
from darc.study.exclusion import records_of
from darc.study.log import note
from darc.study.quality import Care, care
from darc.study.store import Store

tasks, units, people = schema.tasks, schema.units, schema.annotators


@dataclass(frozen=True)
class ItemStatus:
    """An item: the lead's label for it, its valid ratings, live leases, and its disagreement.

    `prompt_id` and `candidates` are empty while the study is open.
    """

    label: str
    valid: int
    leased: int
    set_aside: int
    disagreement: float
    prompt_id: str = ""
    candidates: str = ""


@dataclass(frozen=True)
class PersonStatus:
    """An annotator: pseudonym, state and care."""

    name: str
    state: str
    reason: str
    care: Care
    cleared: bool


@dataclass(frozen=True)
class Status:
    """A study as its lead may see it."""

    title: str
    mode: str
    ratings: int
    closed: bool
    items: tuple[ItemStatus, ...]
    people: tuple[PersonStatus, ...]
    before: Alpha
    after: Alpha

    @property
    def complete(self) -> int:
        """How many items have all their ratings."""
        return sum(item.valid >= self.ratings for item in self.items)

    @property
    def given(self) -> int:
        """How many valid ratings there are."""
        return sum(item.valid for item in self.items)


def status(store: Store) -> Status:
    """The status now; O(answers)."""
    config = store.config
    with store.read() as connection:
        closed = connection.execute(select(schema.study.c.closed)).scalar() is not None
        own = units.c.kind == "item"
        shown = select(
            units.c.id, units.c.label, units.c.prompt_id, units.c.first_id, units.c.second_id
        )
        items = connection.execute(shown.where(own).order_by(units.c.number)).mappings().all()
        query = select(tasks.c.unit_id).where(counted(store.now()), tasks.c.answered.is_(None))
        leased = Counter(connection.execute(query).scalars())
        answers = connection.execute(
            select(people.c.name, tasks.c.unit_id, tasks.c.answer, tasks.c.valid)
            .join(people, tasks.c.annotator_id == people.c.id)
            .where(tasks.c.kind == "item", tasks.c.answered.is_not(None))
            .order_by(tasks.c.id)
        )
        ratings = [Rating(*row) for row in answers]
        records = records_of(connection)
        everyone = connection.execute(select(people).order_by(people.c.id)).mappings().all()
    spread = disagreement(ratings, config.pairwise)
    valid = Counter(rating.unit for rating in ratings if rating.valid)
    aside = Counter(rating.unit for rating in ratings if not rating.valid)
    before, after = agreement(ratings, config.pairwise, config.study.seed)
    found = [
        ItemStatus(
            row["label"],
            valid[row["id"]],
            leased[row["id"]],
            aside[row["id"]],
            spread.get(row["id"], float("nan")),
            row["prompt_id"] if closed else "",
            " / ".join(filter(None, (row["first_id"], row["second_id"]))) if closed else "",
        )
        for row in items
    ]
    return Status(
        title=config.study.title,
        mode=config.study.mode,
        ratings=config.study.ratings,
        closed=closed,
        items=tuple(sorted(found, key=lambda item: int(item.label.split()[-1]))),
        people=tuple(_person(row, records.get(row["id"], []), config) for row in everyone),
        before=before,
        after=after,
    )


def _person(row: Any, records: Any, config: Any) -> PersonStatus:
    found = care(records, config.quality, config.training.calibration_share)
    if row["erased"] is not None:
        state = "erased"
    elif row["excluded"] is not None:
        state = "excluded"
    elif row["finished"] is not None:
        state = "finished"
    elif row["consented"] is not None:
        state = "working"
    else:
        state = "invited" if row["token_hash"] else "no link"
    return PersonStatus(row["name"], state, row["exclusion_reason"], found, row["cleared"])


def close(store: Store, actor: str = "lead") -> int:
    """Take no more answers and show which system wrote what; how many items lack ratings."""
    found = status(store)
    if found.closed:
        raise InputError("the study is closed already", "export it with: darc study export")
    with store.write() as connection:
        connection.execute(update(schema.study).values(closed=store.now()))
        note(connection, store.now(), actor, "closed", "study")
    return len(found.items) - found.complete
