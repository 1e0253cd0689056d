"""Proxy scores and human ratings of the same candidates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.api import SIDE_INPUTS
from darc.core.draws import candidate_lots
from darc.errors import InputError
from darc.evaluation.source import NOBODY, Source
from darc.evaluation.split import Halves
from darc.typing import Array, Integers


@dataclass(frozen=True, eq=False)
class Joined:
    """A proxy and the ratings of people, cut to the same prompts and candidates in one order."""

    proxy: Source
    human: Source
    unmatched: tuple[int, int]

    @property
    def halves(self) -> Halves:
        """All proxy samples select and all ratings judge, of candidates that have both."""
        select, judge = self.proxy.samples, self.human.samples
        sides = [np.all(np.any(~np.isnan(side), axis=3), axis=1) for side in (select, judge)]
        both = np.asarray(sides[0] & sides[1])
        able = both[:, None, :, None]
        return Halves(
            np.where(able, select, np.nan),
            np.where(able, judge, np.nan),
            self.proxy.givers,
            np.where(able, self.human.givers, NOBODY),
            np.asarray(both.any(axis=1)),
            int((sides[0] ^ sides[1]).sum()),
        )


def join(proxy: Source, human: Source) -> Joined:
    """Two sources joined by prompt and candidate ids; raises `InputError` where none are shared.

    `unmatched` counts the candidates of each source that the other lacks.
    """
    places = {prompt: row for row, prompt in enumerate(human.prompt_ids)}
    pairs = []
    for row, prompt in enumerate(proxy.prompt_ids):
        if prompt not in places:
            continue
        theirs = {c: k for k, c in enumerate(human.candidate_ids[places[prompt]])}
        ours = [(k, theirs[c]) for k, c in enumerate(proxy.candidate_ids[row]) if c in theirs]
        if ours:
            pairs.append((row, places[prompt], ours))
    if not pairs:
        raise InputError(
            f"{proxy.name} and {human.name} share no candidate "
            f"({proxy.name} has {_example(proxy)}, {human.name} has {_example(human)})",
            "give both the same prompt_id and candidate_id",
        )
    left = restrict(proxy, [row for row, _, _ in pairs], [[a for a, _ in k] for _, _, k in pairs])
    right = restrict(human, [row for _, row, _ in pairs], [[b for _, b in k] for _, _, k in pairs])
    shared = sum(len(k) for _, _, k in pairs)
    unmatched = tuple(sum(map(len, each.candidate_ids)) - shared for each in (proxy, human))
    tokens = left.tokens if (~np.isnan(left.tokens)).any() else right.tokens
    unit = left.length_unit if tokens is left.tokens else right.length_unit
    left = replace(
        left,
        tokens=tokens,
        length_unit=unit,
        texts=left.texts or right.texts,
        questions=left.questions or right.questions,
    )
    return Joined(left, right, (unmatched[0], unmatched[1]))


def restrict(source: Source, prompts: Sequence[int], candidates: Sequence[Sequence[int]]) -> Source:
    """The source cut to some prompts, in order, and some candidates of each, in order."""
    most = max(map(len, candidates))
    place = np.full((len(prompts), most), -1, dtype=np.int64)
    for row, chosen in zip(place, candidates, strict=True):
        row[: len(chosen)] = chosen
    rows = np.asarray(prompts, dtype=np.int64)
    samples = _gathered(source.samples.transpose(0, 2, 1, 3), rows, place).transpose(0, 2, 1, 3)
    turned = source.givers.transpose(0, 2, 1, 3).astype(np.float64)
    givers = _gathered(turned, rows, place)
    return replace(
        source,
        prompt_ids=[source.prompt_ids[p] for p in prompts],
        candidate_ids=_picked(source.candidate_ids, prompts, candidates),
        samples=np.ascontiguousarray(samples),
        givers=np.nan_to_num(givers, nan=NOBODY).transpose(0, 2, 1, 3).astype(np.int64),
        tokens=_gathered(source.tokens, rows, place),
        side={name: _side(name, array, rows, place) for name, array in source.side.items()},
        questions=[source.questions[p] for p in prompts] if source.questions else (),
        systems=_picked(source.systems, prompts, candidates) if source.systems else (),
        texts=_picked(source.texts, prompts, candidates) if source.texts else (),
        categories=[source.categories[p] for p in prompts] if source.categories else (),
        spent={name: _gathered(array, rows, place) for name, array in source.spent.items()},
    )


def shuffled(source: Source, seed: int) -> Source:
    """The source with the candidates of each prompt in a random order.

    Rules break ties by the order, and in many files that is the order of the systems. The order
    depends on (seed, prompt_id, candidate_id), so neither the file's order of prompts nor that of
    candidates changes what is chosen.
    """
    orders = []
    for prompt, names in zip(source.prompt_ids, source.candidate_ids, strict=True):
        lots = candidate_lots(seed, [prompt] * len(names), names)
        orders.append(np.argsort(lots, kind="stable").tolist())
    return restrict(source, range(len(orders)), orders)


def _gathered(array: Array, rows: Integers, place: Integers) -> Array:
    """Rows and candidates of (P, K, ...), NaN where the place is -1."""
    found = array[rows[:, None], np.maximum(place, 0)]
    found[place < 0] = np.nan
    return np.asarray(found)


def _side(name: str, array: Array, rows: Integers, place: Integers) -> Array:
    """A side input's rows and candidates; the columns too of one that is declared as (K, K)."""
    found = _gathered(array, rows, place)
    if SIDE_INPUTS.get(name) == "KK":
        turned = found.transpose(0, 2, 1)
        found = _gathered(turned, np.arange(len(rows)), place).transpose(0, 2, 1)
    return found


def _picked(
    words: Sequence[Sequence[str]], prompts: Sequence[int], candidates: Sequence[Sequence[int]]
) -> list[list[str]]:
    return [[words[p][k] for k in chosen] for p, chosen in zip(prompts, candidates, strict=True)]


def _example(source: Source) -> str:
    return f"prompt {source.prompt_ids[0]!r} with candidate {source.candidate_ids[0][0]!r}"
