"""How far a proxy's sigma agrees with people's on the same candidates."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darc.analysis import ranks
from darc.analysis.bootstrap import draw_counts, interval
from darc.analysis.frame import Record
from darc.analysis.metrics import aggregate
from darc.analysis.weighted_ranks import (
    partial_correlation,
    weighted_correlations,
    weighted_overlap,
    weighted_ranks,
)
from darc.ratings.joining import JoinedRatings
from darc.typing import Array, Integers, Mask

# The share of the candidates with the largest sigma whose overlap is measured.
TOP_SHARE = 0.2
# With fewer candidates nothing is measured.
MIN_CANDIDATES = 4
# Resamples are computed in blocks of about this many numbers.
BLOCK_CELLS = 400_000


@dataclass(frozen=True, eq=False)
class SigmaPairs:
    """Candidates (N,) whose sigma is known by the proxy and by people."""

    #: The place of the prompt, and of the candidate in it.
    prompt: Integers
    candidate: Integers
    proxy: Array
    human: Array
    #: What is controlled (c, N): the proxy's mean and, if it is known of all, the length.
    controls: Array

    def __len__(self) -> int:
        return len(self.proxy)


def sigma_pairs(
    joined: JoinedRatings, scorer: int | None = None, among: Mask | bool = True
) -> SigmaPairs:
    """Take the candidates whose sigma is known by both.

    Args:
        joined: A proxy's scores and people's ratings of the same candidates.
        scorer: One scorer of the proxy, on its raw scale; None for all together.
        among: The candidates (P, K) to which the result is limited.

    Returns:
        The candidates with both sigmas.
    """
    samples = joined.proxy.samples
    if scorer is not None:
        samples = samples[:, [scorer]]
    proxy = aggregate(samples)
    human = aggregate(joined.human.samples)
    has_both = ~np.isnan(proxy.sigma) & ~np.isnan(human.sigma) & among
    prompt, candidate = np.nonzero(has_both)
    controls = [proxy.mean[has_both]]
    lengths = joined.proxy.lengths[has_both]
    if not np.isnan(lengths).any():
        controls.append(lengths)
    return SigmaPairs(
        prompt=prompt,
        candidate=candidate,
        proxy=proxy.sigma[has_both],
        human=human.sigma[has_both],
        controls=np.stack(controls),
    )


def pairs_by_items(
    joined: JoinedRatings, best_of_k: Integers | None, scorer: int | None = None
) -> Iterator[tuple[str, SigmaPairs]]:
    """All candidates and, if they are known, Best-of-K's choices (P,), each with its name."""
    yield "all candidates", sigma_pairs(joined, scorer)
    if best_of_k is not None:
        chosen = np.arange(joined.proxy.shape[2]) == best_of_k[:, None]
        yield "Best-of-K's choice", sigma_pairs(joined, scorer, chosen)


def agreement_rows(pairs: SigmaPairs, draws: int, seed: int) -> list[Record]:
    """Measure the agreement of both sigmas.

    Args:
        pairs: The candidates with both sigmas.
        draws: The number of resamples of whole prompts.
        seed: Their seed.

    Returns:
        Rows of metric, value, interval and p; none with fewer than `MIN_CANDIDATES`.
    """
    size = len(pairs)
    if size < MIN_CANDIDATES:
        return []
    proxy_top = ranks.top(pairs.proxy, TOP_SHARE)
    human_top = ranks.top(pairs.human, TOP_SHARE)
    both = int((proxy_top & human_top).sum())
    top = int(proxy_top.sum())
    spearman = float(ranks.spearman(pairs.proxy, pairs.human))
    tau, tau_p = ranks.kendall(pairs.proxy, pairs.human)
    partial = float(ranks.partial_spearman(pairs.proxy, pairs.human, pairs.controls))
    lows, highs = interval(_resample(pairs, draws, seed))
    percent = f"{TOP_SHARE:.0%}"
    return [
        _row("spearman", spearman, lows[0], highs[0], ranks.correlation_p(spearman, size)),
        _row("kendall", tau, p=tau_p),
        _row("partial spearman", partial, lows[1], highs[1], ranks.correlation_p(partial, size)),
        _row(f"precision@{percent}", both / top),
        _row(f"recall@{percent}", both / int(human_top.sum())),
        _row(f"jaccard@{percent}", both / (2 * top - both), lows[2], highs[2]),
        _row(f"overlap@{percent}", both, p=ranks.hypergeometric_tail(both, size, top, top)),
    ]


def _row(
    metric: str, value: float, low: float = np.nan, high: float = np.nan, p: float = np.nan
) -> Record:
    return {"metric": metric, "value": value, "low": low, "high": high, "p": p}


def _resample(pairs: SigmaPairs, draws: int, seed: int) -> Array:
    """Spearman, partial Spearman and Jaccard of each resample, (draws, 3)."""
    if len(np.unique(pairs.prompt)) < 2:
        return np.full((1, 3), np.nan)
    counts = draw_counts(int(pairs.prompt.max()) + 1, draws, seed)
    block = max(1, BLOCK_CELLS // len(pairs))
    columns = (pairs.proxy, pairs.human, *pairs.controls)
    parts = []
    for start in range(0, draws, block):
        weights = counts[start : start + block, pairs.prompt].astype(np.float64)
        weights = weights[weights.sum(axis=1) > 0]
        matrices = weighted_correlations(
            [weighted_ranks(column, weights) for column in columns], weights
        )
        spearman = matrices[:, 0, 1]
        partial = partial_correlation(matrices)
        jaccard = weighted_overlap(pairs.proxy, pairs.human, weights, TOP_SHARE)
        parts.append(np.stack([spearman, partial, jaccard], axis=1))
    return np.concatenate(parts)
