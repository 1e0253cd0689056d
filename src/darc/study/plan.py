"""Making a study: its rows, and who sees what, in which order and on which side.

A plan is a pure function of the design and the seed.
"""

import math
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select

from darc.study import schema
from darc.study.items import Unit
from darc.study.schema import note
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.web.keys import hash_token

# Streams of random numbers; the stream 4 draws the attention checks.
_ASSIGN, _ORDER, _SIDES, _CHECKS, _LABELS = 1, 2, 3, 5, 6


@dataclass(frozen=True)
class Design:
    """What plans are made from.

    `prompts[i]` is the number of the prompt that item i belongs to. `panel` is how many annotators
    share the items (under open enrolment: how many it takes). Checks are numbered by themselves.
    """

    prompts: tuple[int, ...]
    attention: int
    gold: int
    ratings: int
    panel: int
    share: float
    seed: int

    @cached_property
    def shares(self) -> list[set[int]]:
        """The prompts that each place of the panel begins with; each at `ratings` places."""
        draw = np.random.default_rng([self.seed, _ASSIGN])
        count = max(self.prompts, default=-1) + 1
        ranks, places = draw.permutation(count), draw.permutation(self.panel)
        result: list[set[int]] = [set() for _ in range(self.panel)]
        for rank, prompt in enumerate(ranks.tolist()):
            for turn in range(min(self.ratings, self.panel)):
                result[places[(rank * self.ratings + turn) % self.panel]].add(prompt)
        return result


def design_of(connection: Connection, config: StudySettings) -> Design:
    """The design that plans are made from, read back from the store."""
    units = schema.units
    query = select(units.c.kind, units.c.prompt_id).order_by(units.c.kind, units.c.number)
    rows = connection.execute(query).all()
    prompts: dict[str, int] = {}
    places = [prompts.setdefault(name, len(prompts)) for kind, name in rows if kind == "item"]
    counts, study = Counter(kind for kind, _ in rows), config.study
    panel = config.panel
    if panel is None:
        panel = math.ceil(len(places) * study.ratings / (study.items_each or len(places)))
    checks = counts["attention"], counts["gold"]
    share, seed = config.quality.share, study.seed
    return Design(tuple(places), *checks, study.ratings, max(1, panel), share, seed)


def plan(design: Design, number: int) -> dict[str, Any]:
    """The plan of annotator `number`, counted from 0, as it is stored.

    `order` are item numbers, the own share first; `flipped` has a 1 for each item that is shown
    with its second response on the left; `checks` are (items rated before, check, flipped).
    Within an annotator as many items are flipped as not, up to one, and annotators 2j and 2j + 1
    flip opposite ones, so that a pair of them balances every item. A check stands at a random place
    of each block of (1 - share)/share items. O(items log items).
    """
    count = len(design.prompts)
    draw = np.random.default_rng([design.seed, _ORDER, number])
    own = design.shares[number % design.panel]
    mine = np.array([prompt in own for prompt in design.prompts], dtype=bool)
    pair = np.random.default_rng([design.seed, _SIDES, number // 2])
    flipped = pair.permutation(count) % 2 == number % 2
    return {
        "order": np.lexsort((draw.random(count), ~mine)).tolist(),
        "flipped": "".join("1" if each else "0" for each in flipped),
        "checks": _checks(design, number, max(1, int(mine.sum()))),
    }


def _checks(design: Design, number: int, expected: int) -> list[list[int]]:
    """Checks of both kinds in random order, one a block; each prefix is mixed as the whole is."""
    attention, gold = sizes = design.attention, design.gold
    if not any(sizes) or not design.share:
        return []
    draw = np.random.default_rng([design.seed, _CHECKS, number])
    places = np.concatenate([(np.arange(n) + draw.random(n)) / max(1, n) for n in sizes])
    names = np.concatenate([draw.permutation(attention), attention + draw.permutation(gold)])
    # A pool that is too small is spread over what the annotator is expected to rate.
    block = max((1 - design.share) / design.share, 1.0, expected / sum(sizes))
    result = []
    for turn, check in enumerate(names[np.argsort(places, kind="stable")].tolist()):
        # The first one comes within what the annotator is expected to rate, however little.
        at = int((turn + draw.random()) * (block if turn else min(block, expected)))
        if at >= len(design.prompts):
            break
        result.append([at, check, int(draw.random() < 0.5)])
    return result


def make_token() -> tuple[str, str]:
    """A token of a link, shown once, and its hash, which is what is stored."""
    token = secrets.token_urlsafe(32)
    return token, hash_token(token)


def create(
    store: Store, config: StudySettings, items: Sequence[Unit], checks: Sequence[Unit]
) -> tuple[str, str]:
    """Fill a new store; the result is the lead's token and the enrolment token, never stored."""
    (lead, lead_hash), (enrol, enrol_hash) = make_token(), make_token()
    code = config.study.completion_code or make_token()[0][:10].upper().replace("_", "Q")
    now = store.now()
    # The lead's labels of items are numbered in a random order.
    labels = np.random.default_rng([config.study.seed, _LABELS]).permutation(len(items)) + 1
    rows, counts = [], Counter[str]()
    for unit in (*items, *checks):
        number = counts[unit.kind]
        counts[unit.kind] += 1
        shown = labels[number] if unit.kind == "item" else number + 1
        rows.append({"number": number, "label": f"{unit.kind} {shown}", **asdict(unit)})
    with store.write() as connection:
        schema.add_row(
            connection,
            schema.study,
            id=1,
            schema=schema.SCHEMA,
            config=config.model_dump(),
            created=now,
            lead_hash=lead_hash,
            enrol_hash=enrol_hash,
            completion_code=code,
        )
        connection.execute(insert(schema.units), rows)
        note(connection, now, "study", "created", config.study.mode, f"{len(items)} items")
        if config.panel is not None:
            add_annotators(store, connection, config, config.panel)
    return lead, enrol


def add_annotators(
    store: Store, connection: Connection, config: StudySettings, count: int
) -> list[tuple[int, str]]:
    """Add annotators with their frozen plans and without a link; the result is (id, name) each."""
    people = schema.annotators
    design = design_of(connection, config)
    last = connection.execute(select(func.max(people.c.number))).scalar()
    start = 0 if last is None else last + 1
    added = []
    for number in range(start, start + count):
        name = f"r{number + 1:03d}"
        row = {"name": name, "number": number, "plan": plan(design, number)}
        added.append((schema.add_row(connection, people, **row, created=store.now()), name))
        note(connection, store.now(), "study", "added", name)
    return added
