"""Rewrites of a candidate, judged and asked for again until there are enough."""

import math
import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import numpy as np

from darc.decide.statistics.draws import prompt_seeds
from darc.errors import InputError, UnknownName
from darc.parts.rewriters.base import Drawing, DrawingRewriter, Rewriter
from darc.parts.rewriters.filters import (
    ACCEPTED,
    LEAST_SIMILARITY,
    ORIGINAL,
    Entities,
    Similarity,
    dissimilar,
    judge,
    normalised,
)
from darc.types import Candidate, Prompt, Rejection, Variant

FAMILIES = ("hybrid", "style", "targeted")


def parts(family: str, count: int) -> list[tuple[str, int]]:
    """The simple families that make up a family, each with its part of the count."""
    if family not in FAMILIES:
        raise UnknownName("family", family, FAMILIES)
    if family == "hybrid":
        return [("style", count - count // 2), ("targeted", count // 2)]
    return [(family, count)]


def derived(seed: int, *parts: object) -> int:
    """A 64-bit seed that depends on the seed and all the parts."""
    return int(prompt_seeds(seed, ["\0".join(map(str, parts))])[0])


@dataclass(frozen=True)
class Perturbed:
    """The accepted rewrites of a candidate, and the refused ones with their reasons."""

    variants: tuple[Variant, ...]
    rejections: tuple[Rejection, ...]


@dataclass
class Slice:
    """Rewriting as far as it has come; it can be pickled and carried on by another process."""

    variants: list[Variant] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    finished: bool = False
    part: int = -1
    goal: int = 0
    tried: int = 0
    rounds: int = 0
    # What was proposed in this part, white space normalised, and why it would be refused now.
    seen: dict[str, str] = field(default_factory=dict)
    drawing: Drawing | None = None
    asked: bool = False
    # Proposals still to be judged and their similarities.
    pending: list[tuple[str, float]] = field(default_factory=list)
    # Proposals that somebody else is to ask the rewriter for: how many, the family and the seed.
    wish: tuple[int, str, int] | None = None
    told: list[str] | None = None

    @property
    def result(self) -> Perturbed:
        """What was accepted and refused so far."""
        return Perturbed(tuple(self.variants), tuple(self.rejections))


class PerturbOptions(TypedDict, total=False):
    """How a candidate is rewritten; the defaults stand in `Rewriting`."""

    family: str
    seed: int
    max_attempts: int | None
    similarity: Similarity | None
    least_similarity: float
    find_entities: Entities | None


def perturb(
    prompt: Prompt,
    candidate: Candidate,
    n_aug: int,
    rewriter: Rewriter,
    *,
    stop: Callable[[], bool] = lambda: False,
    **how: Unpack[PerturbOptions],
) -> Perturbed:
    """Up to `n_aug` accepted rewrites of the candidate, and every rejection.

    At most `max_attempts` proposals are judged (4 n_aug by default; the family `hybrid` shares both
    numbers between its halves), none of them twice. `similarity(pairs)` returns one number a pair,
    and those below `least_similarity` are refused. The result depends on the arguments alone,
    except that `stop`, asked before each proposal is drawn or judged, ends the work with what is
    there.
    """
    return perturb_slice(
        prompt, candidate, n_aug, rewriter, stop=stop, seconds=math.inf, **how
    ).result


def perturb_slice(
    prompt: Prompt,
    candidate: Candidate,
    n_aug: int,
    rewriter: Rewriter,
    *,
    stop: Callable[[], bool] = lambda: False,
    state: Slice | None = None,
    seconds: float = 0.2,
    clock: Callable[[], float] = time.perf_counter,
    asks: bool = True,
    **how: Unpack[PerturbOptions],
) -> Slice:
    """The work of `perturb` for about so many seconds, carried on from `state` where one is given.

    Give the same arguments again until the slice is finished: its result is that of `perturb`,
    however the work was sliced. A step (a draw by rule, a call of another rewriter, a judgement) is
    never cut short, and at least one is made. A slice that never `asks` the
    rewriter itself ends with a `wish`, and the next goes on with what is `told`.
    """
    work = Rewriting(prompt, candidate, n_aug, rewriter, asks, **how)
    if state is None:
        work.next_part(state := Slice())
    until = clock() + seconds
    while not state.finished:
        if stop():
            state.finished = True
        else:
            work.step(state)
        if clock() >= until or state.wish is not None:
            break
    return state


@dataclass
class Rewriting:
    """The steps of rewriting one candidate; `shares` has each part, its goal and its attempts."""

    prompt: Prompt
    candidate: Candidate
    n_aug: int
    rewriter: Rewriter
    asks: bool = True
    family: str = "style"
    seed: int = 0
    max_attempts: int | None = None
    similarity: Similarity | None = None
    least_similarity: float = LEAST_SIMILARITY
    find_entities: Entities | None = None
    shares: list[tuple[str, int, int]] = field(init=False)

    def __post_init__(self) -> None:
        """Share the goal and the attempts between the parts of the family."""
        attempts = 4 * self.n_aug if self.max_attempts is None else self.max_attempts
        if self.n_aug < 0 or attempts < 0:
            raise InputError("n_aug and max_attempts must be 0 or more")
        wanted, budgets = parts(self.family, self.n_aug), parts(self.family, attempts)
        self.shares = [
            (part, goal, budget) for (part, goal), (_, budget) in zip(wanted, budgets, strict=True)
        ]

    def step(self, state: Slice) -> None:
        """Judge a proposal, draw, or go on to the next part."""
        if state.pending:
            self._judge(state, *state.pending.pop(0))
            return
        part, _, budget = self.shares[state.part]
        count = min(state.goal - len(state.variants), budget - state.tried)
        exhausted = state.drawing is not None and state.drawing.exhausted
        if not state.asked and (count <= 0 or exhausted):
            self.next_part(state)
            return
        found = self._proposed(state, part, count)
        if found is None:
            return
        state.asked = False
        state.rounds += 1
        state.tried += len(found[:count])
        state.pending = self._likened(found[:count], state.seen)
        if not found and (state.drawing is None or state.drawing.exhausted):
            self.next_part(state)

    def next_part(self, state: Slice) -> None:
        """Begin the next part of the family, or end the work."""
        state.part += 1
        if state.part == len(self.shares):
            state.finished = True
            return
        part, wanted, _ = self.shares[state.part]
        state.goal, state.tried, state.rounds = len(state.variants) + wanted, 0, 0
        # What one part refused another may accept.
        state.seen = {normalised(variant.text): ACCEPTED for variant in state.variants}
        state.seen[normalised(self.candidate.text)] = ORIGINAL
        if isinstance(self.rewriter, DrawingRewriter):
            state.drawing = self.rewriter.drawing(self.prompt, self.candidate.text, part)

    def _proposed(self, state: Slice, part: str, count: int) -> list[str] | None:
        seed = derived(self.seed, self.prompt.id, self.candidate.index, part, state.rounds)
        if state.drawing is None:
            if self.asks:
                return self.rewriter.rewrite(self.prompt, self.candidate.text, count, part, seed)
            found, state.told = state.told, None
            state.wish = (count, part, seed) if found is None else None
            return found
        if not state.asked:
            state.drawing.ask(count, seed)
            state.asked = True
        return state.drawing.step(state.seen)

    def _judge(self, state: Slice, text: str, value: float) -> None:
        part = self.shares[state.part][0]
        plain = normalised(text)
        reason = (
            state.seen.get(plain)
            or judge(self.candidate.text, text, part, self.find_entities)
            or (dissimilar(value, self.least_similarity) if self.similarity else None)
        )
        state.seen.setdefault(plain, reason or ACCEPTED)
        place, number = (self.prompt.id, self.candidate.index), len(state.variants)
        told = (text, part, self.rewriter.name)
        if reason is None:
            state.variants.append(Variant(*place, number, *told))
        else:
            attempt = number + len(state.rejections)
            state.rejections.append(Rejection(*place, attempt, *told, reason))

    def _likened(self, proposals: list[str], seen: Container[str]) -> list[tuple[str, float]]:
        """The proposals with their similarities, which are asked for where a text is new."""
        new = list(dict.fromkeys(text for text in proposals if normalised(text) not in seen))
        if self.similarity is None or not new:
            return [(text, 1.0) for text in proposals]
        pairs = [(self.candidate.text, text) for text in new]
        values = np.asarray(self.similarity(pairs), dtype=np.float64)
        if values.shape != (len(new),):
            raise InputError(
                f"the similarity returned shape {values.shape} for {len(new)} pairs",
                "return one number a pair",
            )
        known = dict(zip(new, values.tolist(), strict=True))
        return [(text, known.get(text, 1.0)) for text in proposals]
