"""Rewrites of a candidate proposed, judged and asked for again until there are enough."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from darc.errors import InputError
from darc.perturb.drawing import derived
from darc.perturb.families import parts
from darc.perturb.filters import Entities, Judge, Similarity, dissimilar, duplicate
from darc.perturb.filters.hooks import LEAST_SIMILARITY
from darc.perturb.rewriter import Rewriter
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
    numbers between its halves). `similarity(pairs)` returns one number a pair, and those below
    `least_similarity` are refused. The result depends on the arguments alone, except that `stop`,
    asked before each proposal is judged, ends the work with what is there.
    """
    if n_aug < 0 or (max_attempts is not None and max_attempts < 0):
        raise InputError("n_aug and max_attempts must be 0 or more")
    attempts = 4 * n_aug if max_attempts is None else max_attempts
    variants: list[Variant] = []
    rejections: list[Rejection] = []
    budgets = parts(family, attempts)
    for (part, wanted), (_, budget) in zip(parts(family, n_aug), budgets, strict=True):
        judge = Judge(candidate.text, part, find_entities)
        goal, tried, rounds = len(variants) + wanted, 0, 0
        while len(variants) < goal and tried < budget and not stop():
            count = min(goal - len(variants), budget - tried)
            round_seed = derived(seed, prompt.id, candidate.index, part, rounds)
            proposals = rewriter.rewrite(prompt, candidate.text, count, part, round_seed)[:count]
            if not proposals:
                break
            likeness = _likeness(candidate.text, proposals, similarity)
            for text, value in zip(proposals, likeness, strict=True):
                if stop():
                    break
                reason = (
                    duplicate(candidate.text, text, (variant.text for variant in variants))
                    or judge.reason(text)
                    or (dissimilar(value, least_similarity) if similarity else None)
                )
                place = (prompt.id, candidate.index)
                if reason is None:
                    variants.append(Variant(*place, len(variants), text, part, rewriter.name))
                else:
                    attempt = len(variants) + len(rejections)
                    rejections.append(Rejection(*place, attempt, text, part, rewriter.name, reason))
            tried += len(proposals)
            rounds += 1
    return Perturbed(tuple(variants), tuple(rejections))


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
