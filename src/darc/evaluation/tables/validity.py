"""Table 4: how well the proxy's sigma follows how much people disagree."""

from dataclasses import dataclass

import numpy as np

from darc.errors import InputError
from darc.evaluation import ranks
from darc.evaluation.bootstrap import draw_counts, interval
from darc.evaluation.frame import Frame
from darc.evaluation.join import Joined
from darc.evaluation.metrics import aggregated
from darc.evaluation.weighted import (
    partial_of,
    weighted_correlations,
    weighted_overlap,
    weighted_ranks,
)
from darc.typing import Array, Integers

SHARE = 0.2
CURVE = tuple(round(0.05 * step, 2) for step in range(1, 11))
CASES = 5
CELLS = 400_000


@dataclass(frozen=True, eq=False)
class Items:
    """Candidates (N,) whose sigma both know: which they are, both sigmas, and what is controlled.

    `controls` is (c, N): the proxy's mean and, where it is known of all, the length.
    """

    prompt: Integers
    candidate: Integers
    proxy: Array
    human: Array
    controls: Array

    @property
    def places(self) -> list[tuple[int, int]]:
        """Prompt and candidate of every item."""
        return list(zip(self.prompt.tolist(), self.candidate.tolist(), strict=True))


def items_of(joined: Joined, scorer: int | None = None, among: Array | None = None) -> Items:
    """The items of one scorer on its raw scale, or of all; `among` (P, K) limits them."""
    samples = joined.proxy.samples
    if scorer is not None:
        samples = samples[:, scorer : scorer + 1]
    proxy, human = aggregated(samples), aggregated(joined.human.samples)
    known = ~np.isnan(proxy.sigma) & ~np.isnan(human.sigma)
    if among is not None:
        known &= among.astype(bool)
    prompt, candidate = np.nonzero(known)
    length = joined.proxy.tokens[known]
    controls = [proxy.mean[known], *([] if np.isnan(length).any() else [length])]
    return Items(prompt, candidate, proxy.sigma[known], human.sigma[known], np.stack(controls))


def agreement(
    items: Items, draws: int, seed: int, share: float = SHARE
) -> list[tuple[object, ...]]:
    """Rows (metric, value, low, high, p); intervals resample whole prompts."""
    size = len(items.proxy)
    if size < 4:
        raise InputError(
            f"{size} candidates have both a proxy's and people's sigma, too few to compare"
        )
    left, right = ranks.top(items.proxy, share), ranks.top(items.human, share)
    both, top = int((left & right).sum()), int(left.sum())
    rho = float(ranks.spearman(items.proxy, items.human))
    tau = ranks.kendall(items.proxy, items.human)
    partial = float(ranks.partial_spearman(items.proxy, items.human, items.controls))
    drawn = _resampled(items, draws, seed, share)
    ends = [interval(drawn[:, place]) for place in range(3)]
    none = (np.nan, np.nan)
    return [
        ("spearman", rho, *ends[0], ranks.correlation_p(rho, size)),
        ("kendall", tau, *none, ranks.kendall_p(items.proxy, items.human)),
        ("partial spearman", partial, *ends[1], ranks.correlation_p(partial, size)),
        (f"precision@{share:.0%}", both / top, *none, np.nan),
        (f"recall@{share:.0%}", both / int(right.sum()), *none, np.nan),
        (f"jaccard@{share:.0%}", both / (2 * top - both), *ends[2], np.nan),
        (f"overlap@{share:.0%}", both, *none, ranks.hypergeometric_tail(both, size, top, top)),
    ]


def _resampled(items: Items, draws: int, seed: int, share: float) -> Array:
    """Spearman, partial Spearman and Jaccard of each resample, (draws, 3)."""
    prompts = int(items.prompt.max()) + 1
    if len(np.unique(items.prompt)) < 2:
        return np.full((1, 3), np.nan)
    counts = draw_counts(prompts, draws, seed)
    step = max(1, CELLS // len(items.prompt))
    parts = []
    for start in range(0, draws, step):
        weights = counts[start : start + step, items.prompt]
        weights = weights[weights.sum(axis=1) > 0]
        sides = (items.proxy, items.human, *items.controls)
        matrices = weighted_correlations([weighted_ranks(s, weights) for s in sides], weights)
        overlap = weighted_overlap(items.proxy, items.human, weights, share)
        parts.append(np.stack([matrices[:, 0, 1], partial_of(matrices), overlap], axis=1))
    return np.concatenate(parts)


def _limits(joined: Joined, base: Integers | None) -> list[tuple[str, Array | None]]:
    """What items are limited to, by name: nothing, and Best-of-K's choice (P,) where known."""
    every: list[tuple[str, Array | None]] = [("all candidates", None)]
    if base is None:
        return every
    chosen = np.arange(joined.proxy.shape[2]) == base[:, None]
    return [*every, ("Best-of-K's choice", chosen)]


def validity_table(joined: Joined, base: Integers, draws: int = 2000, seed: int = 0) -> Frame:
    """Agreement of the proxy's sigma with people's, for all scorers together and for each.

    `base` (P,) is Best-of-K's choice by the proxy, to which some rows are limited.
    """
    proxy = joined.proxy
    scorers: list[int | None] = [None]
    if len(proxy.scorers) > 1:
        scorers += list(range(len(proxy.scorers)))
    rows: list[tuple[object, ...]] = []
    for scorer in scorers:
        label = "all" if scorer is None else proxy.scorers[scorer]
        for what, among in _limits(joined, base):
            items = items_of(joined, scorer, among)
            if len(items.proxy) < 4:
                continue
            head = (proxy.name, joined.human.name, label, what, len(items.proxy))
            rows += [(*head, *row) for row in agreement(items, draws, seed)]
    if not rows:
        raise InputError(f"{proxy.name} and {joined.human.name} share too few sigmas to compare")
    return Frame.of(
        "validity",
        "The proxy's sigma against people's",
        ("source", "ratings", "scorer", "items", "n", "metric", "value", "low", "high", "p"),
        rows,
        "Partial: the proxy's mean and, where known, the length are controlled, all as ranks. "
        f"Intervals: {draws} resamples of whole prompts. p: Fisher's transformation, Kendall's "
        "normal approximation, the hypergeometric tail; they take candidates as independent.",
    )


def overlap_table(joined: Joined, base: Integers | None = None) -> Frame:
    """Share of the top q by the proxy's sigma that is in the top q by people's, for q to 50 %.

    Of all candidates and, where `base` (P,) says which, of Best-of-K's choices.
    """
    rows = []
    for what, among in _limits(joined, base):
        items = items_of(joined, None, among)
        for share in CURVE:
            left, right = ranks.top(items.proxy, share), ranks.top(items.human, share)
            if left.any():
                hit = (left & right).sum() / left.sum()
                rows.append((joined.proxy.name, joined.human.name, what, share, hit, left.mean()))
    columns = ("source", "ratings", "items", "share", "overlap", "by_chance")
    return Frame.of("overlap", "Overlap of the top shares by sigma", columns, rows)


def points_table(joined: Joined, base: Integers | None = None) -> Frame:
    """Both sigmas of every candidate, and whether it is Best-of-K's choice, `base` (P,)."""
    items = items_of(joined)
    chosen = ["" if base is None else "yes" if base[p] == k else "no" for p, k in items.places]
    rows = [
        (*_head(joined, p, k), joined.human.name, choice, x, y)
        for (p, k), choice, x, y in zip(items.places, chosen, items.proxy, items.human, strict=True)
    ]
    columns = (
        *("source", "prompt_id", "candidate_id", "ratings", "best_of_k"),
        *("sigma_proxy", "sigma_human"),
    )
    return Frame.of("points", "The proxy's and people's sigma of every candidate", columns, rows)


def mismatch_table(joined: Joined, base: Integers | None = None, cases: int = CASES) -> Frame:
    """The candidates whose ranks by the two sigmas differ most, in both directions, with texts.

    Of all candidates and, where `base` (P,) says which, of Best-of-K's choices.
    """
    proxy = joined.proxy
    rows = []
    for what, among in _limits(joined, base):
        items = items_of(joined, None, among)
        gap = ranks.ranks(items.proxy) - ranks.ranks(items.human)
        for kind, sign in (("proxy high, people agree", 1), ("proxy low, people disagree", -1)):
            for at in np.argsort(-sign * gap, kind="stable")[:cases]:
                if sign * gap[at] <= 0:
                    break
                p, k = items.places[at]
                words = (
                    proxy.questions[p] if proxy.questions else "",
                    proxy.texts[p][k] if proxy.texts else "",
                )
                sigmas = (items.proxy[at], items.human[at])
                rows.append((kind, what, *_head(joined, p, k), *sigmas, *words))
    columns = ("kind", "items", "source", "prompt_id", "candidate_id", "sigma_proxy", "sigma_human")
    return Frame.of(
        "mismatches", "Where proxy and people differ most", (*columns, "prompt", "response"), rows
    )


def _head(joined: Joined, prompt: int, candidate: int) -> tuple[str, str, str]:
    proxy = joined.proxy
    return proxy.name, proxy.prompt_ids[prompt], proxy.candidate_ids[prompt][candidate]
