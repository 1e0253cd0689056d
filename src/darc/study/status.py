"""Where a study stands: items, annotators, flags and agreement, without telling systems apart."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.quality import Alpha, Care, agreement, care, disagreement
from darc.study.schema import note, side_of
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.web.keys import hash_token

tasks, units, people = schema.tasks, schema.units, schema.annotators

# What an annotator is, by the first of these columns that has a value.
STATES = {
    "erased": "erased",
    "excluded": "excluded",
    "finished": "finished",
    "consented": "working",
    "token_hash": "invited",
}


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

    @property
    def flagged(self) -> bool:
        """Whether there are flags that nobody looked at."""
        return bool(self.care.flags) and not self.cleared


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
        return sorted(self.items, key=lambda item: -np.nan_to_num(item.disagreement, nan=-1.0))

    @property
    def given(self) -> int:
        """How many valid ratings there are."""
        return sum(item.valid for item in self.items)


def status(store: Store) -> Status:
    """The status now; O(answers)."""
    config, now = store.config, store.now()
    names = ("valid", "leased", "set_aside", "skipped")
    counts: dict[str, Counter[int]] = {name: Counter() for name in names}
    ratings, answers = [], defaultdict(list)
    with store.read() as connection:
        closed = schema.study_row(connection)["closed"] is not None
        shown = (units.c[name] for name in ("id", "label", "prompt_id", "first_id", "second_id"))
        items = connection.execute(select(*shown).where(units.c.kind == "item")).mappings().all()
        for row in connection.execute(schema.whole_tasks().order_by(tasks.c.id)).mappings():
            unit, answer = row["unit_id"], row["answer"]
            if row["answered"] is not None:
                answers[row["annotator_id"]].append(row)
            if row["kind"] != "item":
                continue
            if answer is not None:
                ratings.append(row)
                counts["valid" if row["valid"] else "set_aside"][unit] += 1
            elif row["answered"] is not None:
                counts["skipped"][unit] += 1
            else:
                counts["leased"][unit] += row["lease_until"] > now
        everyone = connection.execute(select(people).order_by(people.c.id)).mappings().all()
    spread = disagreement(ratings, config.pairwise)
    before, after = agreement(ratings, config.pairwise, config.study.seed)
    found = []
    for row in items:
        own: dict[str, Any] = {name: count[row["id"]] for name, count in counts.items()}
        if closed:
            pair = filter(None, (row["first_id"], row["second_id"]))
            own |= {"prompt_id": row["prompt_id"], "candidates": " / ".join(pair)}
        found.append(ItemStatus(row["label"], **own, disagreement=spread.get(row["id"], np.nan)))
    return Status(
        title=config.study.title,
        mode=config.study.mode,
        ratings=config.study.ratings,
        closed=closed,
        items=tuple(sorted(found, key=lambda item: int(item.label.split()[-1]))),
        people=tuple(_person(row, answers[row["id"]], config) for row in everyone),
        before=before,
        after=after,
    )


def _person(row: Any, answers: Sequence[Any], config: StudySettings) -> PersonStatus:
    found = care(answers, config.quality, config.training.calibration_share)
    state = next((STATES[name] for name in STATES if row[name] is not None), "no link")
    return PersonStatus(row["name"], state, row["exclusion_reason"], found, row["cleared"])


def details(store: Store, labels: Sequence[str]) -> dict[str, Any]:
    """What only the lead's page shows, now; O(answers and texts).

    `texts` are the prompt and the responses of each item with one of the labels, the responses in
    an order that tells nothing of systems; `comments` (rater, comment) likewise. `times` are those
    of the valid ratings, `given` the answers of each rater (pairs: left, tie, right), `groups` how
    many people are in each.
    """
    with store.read() as connection:
        own = units.c.kind == "item", units.c.label.in_(labels)
        rows = connection.execute(select(units).where(*own)).mappings().all()
        query = schema.whole_tasks(tasks.c.kind == "item", tasks.c.answered.is_not(None))
        answers = connection.execute(query.order_by(tasks.c.answered)).mappings().all()
        told = connection.execute(select(people.c.groups).where(people.c.erased.is_(None)))
        said = [row for row in told.scalars() if row]
    named, pairwise = {row["id"]: row["label"] for row in rows}, store.config.pairwise
    texts, comments, given = {}, defaultdict(list), defaultdict[str, Counter[Any]](Counter)
    for row in rows:
        responses = sorted(filter(None, (row["first"], row["second"])), key=hash_token)
        texts[row["label"]] = ("\n\n".join(text for _, text in row["turns"]), *responses)
    for row in answers:
        if row["comment"] and row["unit_id"] in named:
            comments[named[row["unit_id"]]].append((row["name"], row["comment"]))
        if row["answer"] is not None:
            value = side_of(row["answer"], row["flipped"]) if pairwise else row["answer"]
            given[row["name"]][value] += 1
    groups = {
        each.name: Counter(row.get(each.name) or "not said" for row in said)
        for each in store.config.groups
    }
    times = [row["answered"] for row in answers if row["valid"]]
    shown = {"texts": texts, "comments": comments, "given": given, "groups": groups}
    return {"now": store.now(), "times": times, **shown}


def close(store: Store, *, force: bool = True) -> int:
    """Take no more answers and show which system wrote what; how many items lack ratings.

    Without `force` it is refused while any do.
    """
    found = status(store)
    lacking = len(found.items) - found.complete
    if lacking and not force and not found.closed:
        told = f"{lacking} of {len(found.items)} items lack ratings"
        raise InputError(told, "wait for them, or add --force")
    with store.write() as connection:
        if schema.study_row(connection)["closed"] is not None:
            raise InputError("the study is closed already", "export it with: darc study export")
        connection.execute(update(schema.study).values(closed=store.now()))
        note(connection, store.now(), "lead", "closed", "study")
    return lacking
