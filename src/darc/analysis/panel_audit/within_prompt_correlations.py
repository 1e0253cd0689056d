"""How each rater's grades go with something else about the answers, within prompts."""

import numpy as np

from darc.analysis.panel_audit.estimate import Estimate, bootstrap_estimate, unknown
from darc.analysis.panel_audit.products import correlations, one_and_draws, prompt_products
from darc.typing import Array


def correlations_with(other: Array, columns: Array, seed: int = 0) -> list[Estimate]:
    """The correlation of each column with something else, within prompts.

    Args:
        other: One number per answer, (P, K), NaN where not known.
        columns: (P, K, C), NaN where not known.
        seed: The seed of the resamples.
    """
    draws = _draws(other, columns, seed)
    return [bootstrap_estimate(float(one[0]), one[1:], len(columns)) for one in draws]


def correlation_change(now: Array, then: Array, other: Array, seed: int = 0) -> Estimate:
    """How much more grades go with something else than earlier grades of the same answers did.

    Args:
        now: Grades, (P, K), NaN where there is none.
        then: Earlier grades of the same answers.
        other: What they should go with, (P, K).
        seed: The seed of the resamples.
    """
    in_both = ~np.isnan(now) & ~np.isnan(then) & ~np.isnan(other)
    if not in_both.any():
        return unknown("no answer has all three")
    columns = np.where(in_both[..., None], np.stack([now, then], axis=2), np.nan)
    draws = _draws(np.where(in_both, other, np.nan), columns, seed)
    change = draws[0] - draws[1]
    prompts = int(in_both.any(axis=1).sum())
    return bootstrap_estimate(float(change[0]), change[1:], prompts)


def _draws(other: Array, columns: Array, seed: int) -> Array:
    """The correlations of all prompts and of resamples, (C, 1 + DRAWS)."""
    products = prompt_products(np.concatenate([columns, other[..., None]], axis=2))
    weights = one_and_draws(len(columns), seed)
    return np.asarray(correlations(products.covariances(weights))[:, :-1, -1].T)
