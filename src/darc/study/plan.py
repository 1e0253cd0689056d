"""Who sees what, in which order and on which side.

A plan is a pure function of the design and the seed.
"""

import math
import secrets
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from darc.study import schema
from darc.study.schema import note
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.web.keys import hash_token

# Streams of random numbers; 4 draws the attention checks (items.py), 6 the labels (creation.py).
_ASSIGNMENT_STREAM = 1
_ORDER_STREAM = 2
_SIDES_STREAM = 3
_CHECKS_STREAM = 5


@dataclass(frozen=True)
class Design:
    """What plans are made from."""

    #: For each item, the number of its prompt.
    prompts: tuple[int, ...]
    #: The number of attention checks.
    attention: int
    #: The number of gold checks, which are numbered after the attention checks.
    gold: int
    #: How many valid ratings an item needs, or is expected to take.
    ratings: int
    #: How many annotators share the items; under open enrolment, how many it takes.
    panel: int
    #: The share of checks in what is shown.
    share: float
    seed: int

    @cached_property
    def shares(self) -> list[set[int]]:
        """The prompts that each place of the panel begins with; each prompt at `ratings` places."""
        random = np.random.default_rng([self.seed, _ASSIGNMENT_STREAM])
        prompt_count = max(self.prompts, default=-1) + 1
        prompts = random.permutation(prompt_count)
        places = random.permutation(self.panel)
        shares: list[set[int]] = [set() for _ in range(self.panel)]
        for rank, prompt in enumerate(prompts.tolist()):
            for turn in range(min(self.ratings, self.panel)):
                place = places[(rank * self.ratings + turn) % self.panel]
                shares[place].add(prompt)
        return shares


def design_of(connection: Connection, config: StudySettings) -> Design:
    """Read the design that plans are made from.

    Args:
        connection: A transaction.
        config: The study's settings.

    Returns:
        The design.
    """
    units = schema.units
    query = select(units.c.kind, units.c.prompt_id).order_by(units.c.kind, units.c.number)
    rows = connection.execute(query).all()
    kind_counts = Counter(kind for kind, _ in rows)
    prompt_numbers: dict[str, int] = {}
    prompts = [
        prompt_numbers.setdefault(prompt_id, len(prompt_numbers))
        for kind, prompt_id in rows
        if kind == "item"
    ]
    return Design(
        prompts=tuple(prompts),
        attention=kind_counts["attention"],
        gold=kind_counts["gold"],
        ratings=_expected_ratings(config),
        panel=_panel_size(config, len(prompts)),
        share=config.quality.share,
        seed=config.study.seed,
    )


def _expected_ratings(config: StudySettings) -> int:
    """How many ratings an item takes; of an adaptive study, about half as many as planned."""
    if config.is_adaptive:
        return max(1, config.study.ratings // 2)
    return config.study.ratings


def _panel_size(config: StudySettings, item_count: int) -> int:
    if config.panel is not None:
        return max(1, config.panel)
    items_each = config.study.items_each or item_count
    return max(1, math.ceil(item_count * config.study.ratings / items_each))


def plan(design: Design, number: int) -> dict[str, Any]:
    """Make the plan of one annotator.

    Within an annotator as many items are flipped as not, up to one, and annotators 2j and 2j + 1
    flip opposite ones, so that a pair of them balances every item. A check stands at a random place
    of each block of (1 - share)/share items. O(items log items).

    Args:
        design: The design of the study.
        number: The annotator, counted from 0.

    Returns:
        The plan as it is stored: `order` are item numbers, those of the own share first; `flipped`
        has a 1 for each item that is shown with its second response on the left; `checks` are lists
        of (items rated before, check, flipped).
    """
    item_count = len(design.prompts)
    share = design.shares[number % design.panel]
    in_share = np.array([prompt in share for prompt in design.prompts], dtype=bool)
    random = np.random.default_rng([design.seed, _ORDER_STREAM, number])
    order = np.lexsort((random.random(item_count), ~in_share))
    side_random = np.random.default_rng([design.seed, _SIDES_STREAM, number // 2])
    flipped = side_random.permutation(item_count) % 2 == number % 2
    return {
        "order": order.tolist(),
        "flipped": "".join(str(int(is_flipped)) for is_flipped in flipped),
        "checks": _plan_checks(design, number, max(1, int(in_share.sum()))),
    }


def _plan_checks(design: Design, number: int, expected_items: int) -> list[list[int]]:
    """Checks of both kinds in random order, one per block of items."""
    check_count = design.attention + design.gold
    if not check_count or not design.share:
        return []
    random = np.random.default_rng([design.seed, _CHECKS_STREAM, number])
    checks = _mix_checks(design, random)
    # A pool that is too small is spread over what the annotator is expected to rate.
    items_per_check = (1 - design.share) / design.share
    block = max(items_per_check, 1.0, expected_items / check_count)
    planned = []
    for turn, check in enumerate(checks):
        # The first one comes within what the annotator is expected to rate, however little.
        length = block if turn else min(block, expected_items)
        items_before = int((turn + random.random()) * length)
        if items_before >= len(design.prompts):
            break
        planned.append([items_before, check, int(random.random() < 0.5)])
    return planned


def _mix_checks(design: Design, random: np.random.Generator) -> list[int]:
    """The numbers of the checks such that every prefix is mixed as the whole is."""
    places = np.concatenate([_spread_evenly(n, random) for n in (design.attention, design.gold)])
    attention = random.permutation(design.attention)
    gold = design.attention + random.permutation(design.gold)
    checks = np.concatenate([attention, gold])
    in_order = checks[np.argsort(places, kind="stable")]
    return [int(check) for check in in_order]


def _spread_evenly(count: int, random: np.random.Generator) -> Any:
    """Random places in [0, 1), one in each of `count` equal parts; shape (count,)."""
    return (np.arange(count) + random.random(count)) / max(1, count)


def make_token() -> tuple[str, str]:
    """A token of a link, which is shown once, and its hash, which is stored."""
    token = secrets.token_urlsafe(32)
    return token, hash_token(token)


def add_annotators(
    store: Store, connection: Connection, config: StudySettings, count: int
) -> list[tuple[int, str]]:
    """Add annotators with their plans, which never change, and without a link.

    Args:
        store: The study.
        connection: A transaction that writes.
        config: The study's settings.
        count: How many.

    Returns:
        The id and the name of each.
    """
    annotators = schema.annotators
    design = design_of(connection, config)
    last = connection.execute(select(func.max(annotators.c.number))).scalar()
    start = 0 if last is None else last + 1
    added = []
    for number in range(start, start + count):
        name = f"r{number + 1:03d}"
        annotator_id = schema.add_row(
            connection,
            annotators,
            name=name,
            number=number,
            plan=plan(design, number),
            created=store.now(),
        )
        note(connection, store.now(), "study", "added", name)
        added.append((annotator_id, name))
    return added
