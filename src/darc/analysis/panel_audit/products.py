"""Covariances within prompts, whatever is missing, with resamples of the prompts."""

from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import draw_counts
from darc.typing import Array

# The resamples of the prompts.
DRAWS = 1000


@dataclass(frozen=True, eq=False)
class PromptProducts:
    """For each pair of C columns, the sums of products within each of P prompts."""

    #: Products of deviations from the prompt's mean over answers that both columns have, (P, C, C).
    sums: Array
    #: Their degrees of freedom, (P, C, C).
    df: Array

    def covariances(self, weights: Array) -> Array:
        """Covariances within prompts, (B, C, C), NaN without degrees of freedom.

        Args:
            weights: How often each prompt counts, (B, P).
        """
        prompts, columns, _ = self.sums.shape
        shape = (len(weights), columns, columns)
        sums = (weights @ self.sums.reshape(prompts, -1)).reshape(shape)
        df = (weights @ self.df.reshape(prompts, -1)).reshape(shape)
        return np.where(df > 0, sums / np.maximum(df, 1), np.nan)


def prompt_products(columns: Array) -> PromptProducts:
    """The sums of products of columns (P, K, C) within prompts, NaN where a number is missing."""
    known = (~np.isnan(columns)).astype(np.float64)
    values = np.nan_to_num(columns)
    count = np.einsum("pki,pkj->pij", known, known)
    products = np.einsum("pki,pkj->pij", values, values)
    # What column i adds up to over the answers that column j has, too.
    totals = np.einsum("pki,pkj->pij", values, known)
    centre = totals * totals.transpose(0, 2, 1) / np.maximum(count, 1)
    return PromptProducts(sums=products - centre, df=np.maximum(count - 1, 0))


def one_and_draws(prompts: int, seed: int) -> Array:
    """Weights of the prompts: all once, and then resamples, (1 + DRAWS, P)."""
    counts = draw_counts(prompts, DRAWS, seed).astype(np.float64)
    return np.concatenate([np.ones((1, prompts)), counts])


def correlations(covariances: Array) -> Array:
    """Correlations (B, C, C) of covariances, NaN where a variance is not positive."""
    variance = np.einsum("bcc->bc", covariances)
    scale = np.sqrt(np.where(variance > 0, variance, np.nan))
    return np.asarray(np.clip(covariances / (scale[:, :, None] * scale[:, None, :]), -1.0, 1.0))
