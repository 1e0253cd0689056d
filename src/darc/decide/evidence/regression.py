"""Ridge regression of ratings on covariates, always judged on prompts that it did not see."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from darc.typing import Array, Integers

# A wider block of covariates, such as an embedding, is cut to this many principal components.
WIDEST_BLOCK = 64
# The penalties that are tried.
PENALTIES = 10.0 ** np.arange(-1, 5.01, 0.5)
# A covariate that varies less than this within prompts says nothing.
LEAST_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class Design:
    """A block of covariates, ready for regression."""

    #: Centred and scaled within prompts, (P, K, columns); 0 where nothing is known.
    columns: Array
    #: What turns centred covariates into columns, (covariates, columns).
    transform: Array


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ridge regressions with several penalties."""

    #: Predictions of prompts that were left out, (penalties, P, K).
    out_of_fold: Array
    #: Coefficients learnt from all prompts, (penalties, columns).
    coefficients: Array


def prepare_design(covariates: Array) -> Design:
    """Centre and scale covariates within prompts.

    Args:
        covariates: (P, K, covariates), NaN where a value is not known; it counts as the prompt's
            average.
    """
    known = np.isfinite(covariates)
    deviation = center_known(covariates)
    count = np.maximum(known.sum(axis=(0, 1)), 1)
    spread = np.sqrt((deviation**2).sum(axis=(0, 1)) / count)
    width = covariates.shape[-1]
    if width > WIDEST_BLOCK:
        flat = deviation.reshape(-1, width)
        _, directions = np.linalg.eigh(flat.T @ flat)
        largest_first = directions[:, ::-1][:, :WIDEST_BLOCK]
        transform = largest_first / max(float(spread.mean()), LEAST_SPREAD)
    else:
        scale = np.where(spread > LEAST_SPREAD, spread, np.inf)
        transform = np.diag(1 / scale)
    return Design(deviation @ transform, transform)


def center_known(covariates: Array) -> Array:
    """Covariates (P, K, covariates) less their prompt's mean, 0 where a value is not known."""
    known = np.isfinite(covariates)
    total = np.where(known, covariates, 0.0).sum(axis=1, keepdims=True)
    mean = total / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.where(known, covariates - mean, 0.0)


def fit_ridge(
    columns: Array, target: Array, weight: Array, fold: Integers, penalties: Array = PENALTIES
) -> RidgePath:
    """Fit ridge regressions, leaving out each fold of prompts in turn.

    Args:
        columns: (P, K, columns).
        target: What is predicted, (P, K).
        weight: How much each target counts, (P, K).
        fold: The fold of each prompt, (P,).
        penalties: The penalties to try.
    """
    folds = int(fold.max()) + 1
    width = columns.shape[-1]
    products = np.zeros((folds, width, width))
    responses = np.zeros((folds, width))
    for index in range(folds):
        rows = columns[fold == index].reshape(-1, width)
        row_weight = weight[fold == index].reshape(-1)
        products[index] = rows.T @ (row_weight[:, None] * rows)
        responses[index] = rows.T @ (row_weight * target[fold == index].reshape(-1))
    all_products = products.sum(axis=0)
    all_responses = responses.sum(axis=0)
    out_of_fold = np.zeros((len(penalties), *target.shape))
    for index in range(folds):
        coefficients = _solve(
            all_products - products[index], all_responses - responses[index], penalties
        )
        predicted = np.tensordot(coefficients, columns[fold == index], axes=(1, 2))
        out_of_fold[:, fold == index] = predicted
    return RidgePath(out_of_fold, _solve(all_products, all_responses, penalties))


def nonnegative_weights(predictions: Sequence[Array], target: Array, weight: Array) -> Array:
    """The nonnegative combination of a few predictions (P, K) with the least squared error.

    Every subset of the predictions is tried.
    """
    stacked = np.stack(predictions, axis=-1)
    count = stacked.shape[-1]
    products = np.einsum("pkm,pkr->mr", stacked * weight[..., None], stacked)
    responses = np.einsum("pkm,pk->m", stacked, weight * target)
    jitter = 1e-9 * np.trace(products)
    best = np.zeros(count)
    largest_gain = 0.0
    for size in range(1, count + 1):
        for subset in combinations(range(count), size):
            used = list(subset)
            part = products[np.ix_(used, used)]
            solution = np.linalg.lstsq(part + jitter * np.eye(size), responses[used], rcond=None)[0]
            gain = float(2 * solution @ responses[used] - solution @ part @ solution)
            if (solution >= 0).all() and gain > largest_gain:
                best = np.zeros(count)
                best[used] = solution
                largest_gain = gain
    return best


def _solve(products: Array, responses: Array, penalties: Array) -> Array:
    """Ridge coefficients for each penalty, (penalties, columns)."""
    strengths, directions = np.linalg.eigh(products)
    projected = (directions.T @ responses)[:, None]
    shrunken = projected / (np.maximum(strengths, 0.0)[:, None] + penalties[None])
    return np.asarray((directions @ shrunken).T)
