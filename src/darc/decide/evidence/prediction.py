"""What cheap judgements predict of people's ratings, and how far that deserves to be believed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.regression import (
    PENALTIES,
    Design,
    center_known,
    fit_ridge,
    nonnegative_weights,
    prepare_design,
)
from darc.decide.evidence.trust import HalfRatings, trust_in, weighted_deviation
from darc.decide.evidence.worth import noise_ratio
from darc.typing import Array, Integers, Mask

# Below this many prompts nothing is learnt.
FEWEST_PROMPTS = 30
# Folds of prompts, each of which is predicted from the others.
FOLDS = 10
# How often the raters are halved to find out how far the prediction may be trusted.
HALVINGS = 4


@dataclass(frozen=True, eq=False)
class Prediction:
    """What covariates predict of candidates' means, and what is needed to predict new ones."""

    #: What is predicted of each candidate as a deviation from its prompt, times the trust, (P, K).
    values: Array
    #: The coefficients of centred covariates, one array per block; without the trust.
    coefficients: tuple[Array, ...]
    #: How far the prediction is believed, from 0 to 1.
    trust: float
    #: z of the prediction on other raters.
    z: float
    #: The share of the trust that is left among the best candidates.
    contender_share: float
    #: The noise of one rating over the variance of candidates.
    ratio: float

    def predict(self, blocks: Sequence[Array]) -> Array:
        """Predict new candidates.

        Args:
            blocks: The same covariates, (P, K, covariates) each, NaN where not known.

        Returns:
            Deviations from each prompt's average, times the trust, (P, K).
        """
        total = np.zeros(blocks[0].shape[:2])
        for block, coefficients in zip(blocks, self.coefficients, strict=True):
            total = total + center_known(block) @ coefficients
        return np.asarray(self.trust * total)


def learn_prediction(
    ratings: Array,
    blocks: Sequence[Array],
    raters: Integers | None = None,
    shared: float = 1.0,
    seed: int = 0,
) -> Prediction | None:
    """Learn what covariates say about people's mean ratings.

    Args:
        ratings: (P, K, n) without the raters' severity, NaN where there is none.
        blocks: Covariates of every candidate, (P, K, covariates) each: the grades of judges and
            other numbers in one block, each embedding in another. NaN where not known.
        raters: Who gave each rating, (P, K, n), negative where not known; None if nobody is known.
        shared: The share of noise that blurs comparisons within a prompt.
        seed: The seed of the folds and halves.

    Returns:
        The prediction, or None below `FEWEST_PROMPTS` prompts or without covariates.
    """
    prompts = len(ratings)
    if prompts < FEWEST_PROMPTS or not blocks:
        return None
    ratio = noise_ratio(ratings, shared)
    target, weight = centred_means(ratings, ratio)
    generator = np.random.default_rng(seed)
    fold = generator.permutation(prompts) % min(FOLDS, prompts)
    designs = [prepare_design(np.asarray(block, dtype=np.float64)) for block in blocks]
    paths = [fit_ridge(design.columns, target, weight, fold) for design in designs]
    penalties = []
    predictions = []
    for path in paths:
        errors = (weight * (target - path.out_of_fold) ** 2).sum(axis=(1, 2))
        best = int(np.argmin(errors))
        penalties.append(best)
        predictions.append(path.out_of_fold[best])
    shares = nonnegative_weights(predictions, target, weight)
    combined = np.stack(predictions, axis=-1) @ shares
    halves = []
    if combined.any():
        fit = _BlockFit(designs, shares, penalties, fold)
        halves = _rater_halves(ratings, raters, ratio, fit, generator)
    trust = trust_in(halves, target, weight, combined)
    coefficients = []
    for share, design, path, best in zip(shares, designs, paths, penalties, strict=True):
        coefficients.append(share * design.transform @ path.coefficients[best])
    return Prediction(
        values=np.asarray(trust.value * combined),
        coefficients=tuple(coefficients),
        trust=trust.value,
        z=trust.z,
        contender_share=trust.contender_share,
        ratio=ratio,
    )


def centred_means(ratings: Array, ratio: float, among: Mask | None = None) -> tuple[Array, Array]:
    """Means of candidates less their prompt's, and how much each counts, (P, K) each.

    Args:
        ratings: (P, K, n), NaN where there is none.
        ratio: The noise of one rating over the variance of candidates.
        among: The ratings that count, (P, K, n); None for all.
    """
    is_used = np.isfinite(ratings)
    if among is not None:
        is_used = is_used & among
    count = is_used.sum(axis=-1)
    weight = count / (count + ratio)
    mean = np.where(is_used, ratings, 0.0).sum(axis=-1) / np.maximum(count, 1)
    return weighted_deviation(mean, weight), weight


@dataclass(frozen=True, eq=False)
class _BlockFit:
    """How the blocks are fitted and combined, for fitting them again to some of the raters."""

    designs: Sequence[Design]
    shares: Array
    penalties: Sequence[int]
    fold: Integers

    def predict(self, target: Array, weight: Array) -> Array:
        """Predictions of prompts that were left out, (P, K)."""
        total = np.zeros(target.shape)
        for design, share, best in zip(self.designs, self.shares, self.penalties, strict=True):
            if share > 0:
                penalty = PENALTIES[best : best + 1]
                path = fit_ridge(design.columns, target, weight, self.fold, penalty)
                total = total + share * path.out_of_fold[0]
        return total


def _rater_halves(
    ratings: Array,
    raters: Integers | None,
    ratio: float,
    fit: _BlockFit,
    generator: np.random.Generator,
) -> list[HalfRatings]:
    """What one half of the raters teaches, beside the ratings of the other, several times."""
    halves = []
    for _ in range(HALVINGS):
        is_first = _draw_half(ratings, raters, generator)
        for teaching in (is_first, ~is_first):
            taught, taught_weight = centred_means(ratings, ratio, teaching)
            judged, judged_weight = centred_means(ratings, ratio, ~teaching)
            predicted = fit.predict(taught, taught_weight)
            halves.append(
                HalfRatings(
                    taught=taught,
                    taught_weight=taught_weight,
                    predicted=predicted,
                    judged=judged,
                    judged_weight=judged_weight,
                )
            )
    return halves


def _draw_half(ratings: Array, raters: Integers | None, generator: np.random.Generator) -> Mask:
    """Half of the raters, or half of each candidate's ratings where raters are not known."""
    if raters is not None:
        in_half = generator.permutation(int(raters.max()) + 1) % 2 == 0
        return np.asarray(in_half[np.maximum(raters, 0)])
    is_rated = np.isfinite(ratings)
    order_key = np.where(is_rated, generator.random(ratings.shape), 2.0)
    rank = np.argsort(np.argsort(order_key, axis=-1), axis=-1)
    # Of an odd number of ratings, a coin decides which half is larger.
    coin = generator.random((*ratings.shape[:2], 1)) < 0.5
    half = (is_rated.sum(axis=-1, keepdims=True) + coin) // 2
    return np.asarray(rank < half)
