"""Where a study stands: items, annotators, flags and agreement, without telling systems apart."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.claims import counted
from darc.study.exclusion import records_of
from darc.study.quality import Alpha, Care, GivenRating, agreement, care, disagreement
from darc.study.schema import note, side_of
from darc.study.store import Store
from darc.web.clients import digest_of

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
    skipped: int
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
    def ranked(self) -> list[ItemStatus]:
        """The items, most disagreement first, those of unknown disagreement last."""
        return sorted(
            self.items,
            key=lambda item: -item.disagreement if item.disagreement == item.disagreement else 1.0,
        )

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
            .where(tasks.c.kind == "item", tasks.c.answer.is_not(None))
            .order_by(tasks.c.id)
        )
        ratings = [GivenRating(*row) for row in answers]
        left_out = tasks.c.answered.is_not(None) & tasks.c.answer.is_(None)
        skipped = Counter(connection.execute(select(tasks.c.unit_id).where(left_out)).scalars())
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
            skipped[row["id"]],
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


@dataclass(frozen=True)
class Details:
    """What only the lead's page shows.

    `texts` are the prompt and the responses of an item by its label, the responses in an order that
    tells nothing of systems; `comments` (rater, comment) likewise. `times` are those of the valid
    ratings, `given` the answers of each rater (pairs: left, tie, right), `groups` how many
    people are in each.
    """

    texts: dict[str, tuple[str, ...]]
    comments: dict[str, list[tuple[str, str]]]
    times: tuple[float, ...]
    given: dict[str, Counter[str | float]]
    groups: dict[str, Counter[str]]
    now: float


def details(store: Store, labels: Sequence[str]) -> Details:
    """The details now, texts and comments of the items with these labels; O(answers and texts)."""
    with store.read() as connection:
        own = units.c.kind == "item", units.c.label.in_(labels)
        rows = connection.execute(select(units).where(*own)).mappings().all()
        query = (
            select(tasks, people.c.name)
            .join(people, tasks.c.annotator_id == people.c.id)
            .where(tasks.c.kind == "item", tasks.c.answered.is_not(None))
        )
        answers = connection.execute(query.order_by(tasks.c.answered)).mappings().all()
        told = connection.execute(select(people.c.groups).where(people.c.erased.is_(None)))
        said = [row for row in told.scalars() if row]
    named = {row["id"]: row["label"] for row in rows}
    texts = {}
    for row in rows:
        responses = sorted(filter(None, (row["first"], row["second"])), key=digest_of)
        texts[row["label"]] = ("\n\n".join(text for _, text in row["turns"]), *responses)
    comments: dict[str, list[tuple[str, str]]] = {}
    given: dict[str, Counter[str | float]] = {}
    pairwise = store.config.pairwise
    for row in answers:
        if row["comment"] and row["unit_id"] in named:
            comments.setdefault(named[row["unit_id"]], []).append((row["name"], row["comment"]))
        if row["answer"] is not None:
            value = side_of(row["answer"], row["flipped"]) if pairwise else row["answer"]
            given.setdefault(row["name"], Counter())[value] += 1
    return Details(
        texts,
        comments,
        tuple(row["answered"] for row in answers if row["valid"]),
        given,
        {
            each.name: Counter(row.get(each.name) or "not said" for row in said)
            for each in store.config.groups
        },
        store.now(),
    )


def close(store: Store, actor: str = "lead") -> int:
    """Take no more answers and show which system wrote what; how many items lack ratings."""
    found = status(store)
    if found.closed:
        raise InputError("the study is closed already", "export it with: darc study export")
    with store.write() as connection:
        connection.execute(update(schema.study).values(closed=store.now()))
        note(connection, store.now(), actor, "closed", "study")
    return len(found.items) - found.complete
