"""Rewrites of a candidate proposed, judged and asked for again until there are enough."""

import math
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

import numpy as np

from darc.errors import InputError
from darc.perturb.filters import (
    ACCEPTED,
    LEAST_SIMILARITY,
    ORIGINAL,
    Entities,
    RewriteJudge,
    Similarity,
    dissimilar,
    normalised,
)
from darc.perturb.rewriter import Drawing, DrawingRewriter, Rewriter, parts
from darc.perturb.transforms.transform import derived
from darc.types import Candidate, Prompt, Rejection, Variant


@dataclass(frozen=True)
class Perturbed:
    """The accepted rewrites of a candidate, and the refused ones with their reasons."""

    variants: tuple[Variant, ...]
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True)
class Report:
    """How many rewrites were accepted, and how many each filter refused."""

    accepted: int
    refused: dict[str, int]

    @property
    def rate(self) -> float:
        """The share of proposals that was accepted; NaN without any."""
        proposed = self.accepted + sum(self.refused.values())
        return self.accepted / proposed if proposed else float("nan")


def report(results: Iterable[Perturbed]) -> Report:
    """The acceptance of some candidates taken together, filters by how much they refused."""
    accepted, refused = 0, Counter[str]()
    for result in results:
        accepted += len(result.variants)
        refused.update(rejection.reason.split(":", 1)[0] for rejection in result.rejections)
    return Report(accepted, dict(sorted(refused.items(), key=lambda item: (-item[1], item[0]))))


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


def perturb(
    prompt: Prompt,
    candidate: Candidate,
    n_aug: int,
    rewriter: Rewriter,
    *,
    family: str = "style",
    seed: int = 0,
    max_attempts: int | None = None,
    similarity: Similarity | None = None,
    least_similarity: float = LEAST_SIMILARITY,
    find_entities: Entities | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Perturbed:
    """Up to `n_aug` accepted rewrites of the candidate, and every rejection.

    At most `max_attempts` proposals are judged (4 n_aug by default; the family `hybrid` shares both
    numbers between its halves), none of them twice. `similarity(pairs)` returns one number a pair,
    and those below `least_similarity` are refused. The result depends on the arguments alone,
    except that `stop`, asked before each proposal is drawn or judged, ends the work with what is
    there.
    """
    return perturb_slice(
        prompt,
        candidate,
        n_aug,
        rewriter,
        family=family,
        seed=seed,
        max_attempts=max_attempts,
        similarity=similarity,
        least_similarity=least_similarity,
        find_entities=find_entities,
        stop=stop,
        seconds=math.inf,
    ).result


def perturb_slice(
    prompt: Prompt,
    candidate: Candidate,
    n_aug: int,
    rewriter: Rewriter,
    *,
    family: str = "style",
    seed: int = 0,
    max_attempts: int | None = None,
    similarity: Similarity | None = None,
    least_similarity: float = LEAST_SIMILARITY,
    find_entities: Entities | None = None,
    stop: Callable[[], bool] = lambda: False,
    state: Slice | None = None,
    seconds: float = 0.2,
    clock: Callable[[], float] = time.perf_counter,
    asks: bool = True,
) -> Slice:
    """The work of `perturb` for about so many seconds, carried on from `state` where one is given.

    Give the same arguments again until the slice is finished: its result is that of `perturb`,
    however the work was sliced. A step (a draw by rule, a call of another rewriter, a judgement) is
    never cut short, and at least one is made. A slice that never `asks` the
    rewriter itself ends with a `wish`, and the next goes on with what is `told`.
    """
    if n_aug < 0 or (max_attempts is not None and max_attempts < 0):
        raise InputError("n_aug and max_attempts must be 0 or more")
    attempts = 4 * n_aug if max_attempts is None else max_attempts
    shares = [
        (part, wanted, budget)
        for (part, wanted), (_, budget) in zip(
            parts(family, n_aug), parts(family, attempts), strict=True
        )
    ]
    work = _Work(
        prompt, candidate, rewriter, shares, seed, similarity, least_similarity, find_entities, asks
    )
    state = Slice() if state is None else state
    until = clock() + seconds
    while not state.finished:
        if stop():
            state.finished = True
        else:
            work.step(state)
        if clock() >= until or state.wish is not None:
            break
    return state


@dataclass(frozen=True)
class _Work:
    """The steps of rewriting one candidate; `shares` has each part, its goal and its attempts."""

    prompt: Prompt
    candidate: Candidate
    rewriter: Rewriter
    shares: list[tuple[str, int, int]]
    seed: int
    similarity: Similarity | None
    least_similarity: float
    find_entities: Entities | None
    asks: bool

    def step(self, state: Slice) -> None:
        """Judge a proposal, draw, or go on to the next part."""
        if state.pending:
            self._judge(state, *state.pending.pop(0))
            return
        if state.part < 0:
            self._next_part(state)
            return
        part, _, budget = self.shares[state.part]
        count = min(state.goal - len(state.variants), budget - state.tried)
        if not state.asked and (count <= 0 or _exhausted(state)):
            self._next_part(state)
            return
        found = self._proposed(state, part, count)
        if found is None:
            return
        state.asked = False
        state.rounds += 1
        state.tried += len(found[:count])
        state.pending = self._likened(found[:count], state.seen)
        if not found and (state.drawing is None or _exhausted(state)):
            self._next_part(state)

    def _next_part(self, state: Slice) -> None:
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
            or RewriteJudge(self.candidate.text, part, self.find_entities).reason(text)
            or (dissimilar(value, self.least_similarity) if self.similarity else None)
        )
        state.seen.setdefault(plain, reason or ACCEPTED)
        place = (self.prompt.id, self.candidate.index)
        name, number = self.rewriter.name, len(state.variants)
        if reason is None:
            state.variants.append(Variant(*place, number, text, part, name))
        else:
            attempt = number + len(state.rejections)
            state.rejections.append(Rejection(*place, attempt, text, part, name, reason))

    def _likened(self, proposals: list[str], seen: Container[str]) -> list[tuple[str, float]]:
        """The proposals with their similarities, which are asked for where a text is new."""
        new = list(dict.fromkeys(text for text in proposals if normalised(text) not in seen))
        values = _likeness(self.candidate.text, new, self.similarity) if new else []
        known = dict(zip(new, values, strict=True))
        return [(text, known.get(text, 1.0)) for text in proposals]


def _exhausted(state: Slice) -> bool:
    return state.drawing is not None and state.drawing.exhausted


def _likeness(original: str, proposals: list[str], similarity: Similarity | None) -> list[float]:
    if similarity is None:
        return [1.0] * len(proposals)
    values = np.asarray(similarity([(original, text) for text in proposals]), dtype=np.float64)
    if values.shape != (len(proposals),):
        raise InputError(
            f"the similarity returned shape {values.shape} for {len(proposals)} pairs",
            "return one number a pair",
        )
    return [float(value) for value in values]
