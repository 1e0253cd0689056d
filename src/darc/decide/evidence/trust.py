"""How far a prediction of people's ratings may be trusted, found out with raters it did not see."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers, Mask

# The share of a prompt's candidates that counts as contenders; at least two do.
CONTENDER_SHARE = 0.25
FEWEST_CONTENDERS = 2
# How far the coefficient among contenders may differ by nature from that among all, as a share.
NATURAL_SPREAD = 0.5
# Below this many prompts with two halves, the prediction is judged by the ratings that taught it.
FEWEST_HALVED_PROMPTS = 10
# Choosing with the prediction must not do worse on other raters than this z, from 20 prompts on.
LOST = -1.5
FEWEST_CHECKED_PROMPTS = 20


@dataclass(frozen=True, eq=False)
class HalfRatings:
    """What one half of the raters teaches, beside the ratings of the other half, (P, K) each."""

    #: The teaching half's means within prompts, and how much each counts.
    taught: Array
    taught_weight: Array
    #: What that half teaches the covariates to predict, on prompts that were left out.
    predicted: Array
    #: The judging half's means within prompts, and how much each counts.
    judged: Array
    judged_weight: Array

    @property
    def in_both(self) -> Mask:
        """The candidates with ratings in both halves."""
        return np.asarray((self.taught_weight > 0) & (self.judged_weight > 0))


@dataclass(frozen=True)
class Trust:
    """How far a prediction may be trusted."""

    #: From 0, not at all, to 1, as it is.
    value: float
    #: z of the prediction on other raters, clustered by prompt.
    z: float
    #: The share that is left after looking at the best candidates only.
    contender_share: float


def trust_in(
    halves: Sequence[HalfRatings], target: Array, weight: Array, predicted: Array
) -> Trust:
    """How far the prediction may be trusted.

    The slope of one half's means on what the other half teaches says how much of the prediction is
    not the taste of a panel; its z says how sure that is; the contender check says whether it holds
    among the best candidates too.

    Args:
        halves: Halves of the raters.
        target: The means of all raters within prompts, (P, K); used where halves are too few.
        weight: How much each target counts, (P, K).
        predicted: The prediction, (P, K), of prompts that were left out.
    """
    numerator = np.zeros(len(target))
    denominator = np.zeros(len(target))
    for half in halves:
        deviation = weighted_deviation(half.predicted, half.judged_weight)
        numerator += (half.judged_weight * half.judged * deviation).sum(axis=1)
        denominator += (half.judged_weight * deviation**2).sum(axis=1)
    if (denominator > 0).sum() < FEWEST_HALVED_PROMPTS:
        numerator = (weight * target * predicted).sum(axis=1)
        denominator = (weight * predicted**2).sum(axis=1)
    slope = numerator.sum() / max(denominator.sum(), 1e-300)
    error = np.sqrt(((numerator - slope * denominator) ** 2).sum())
    z = float(slope * denominator.sum() / max(error, 1e-300))
    if z <= 1:
        return Trust(0.0, z, 1.0)
    contender_share = 1.0
    if halves:
        contender_share = contender_trust(halves)
    value = contender_share * min(1.0, float(slope)) * (1 - 1 / z**2)
    return Trust(float(value), z, contender_share)


def contender_trust(halves: Sequence[HalfRatings]) -> float:
    """The prediction's coefficient among the best candidates over that among all, from 0 to 1.

    A judge may be right on the whole and wrong about the best. The coefficient among contenders is
    pooled with that among all by precision. It is 0 where choosing with the prediction in one half
    does worse in the other than choosing without.
    """
    among_all = np.zeros((len(halves[0].taught), 2, 3))
    among_best = np.zeros_like(among_all)
    for half in halves:
        in_both = half.in_both
        among_all += _normal_equations(half, in_both)
        among_best += _normal_equations(half, in_both & _is_contender(half.taught, in_both))
    if among_all[:, 0, 0].sum() <= 0:
        return 1.0
    (own_weight, usual), _ = _solve(among_all)
    (_, among_contenders), error = _solve(among_best)
    if usual <= 0:
        return 0.0
    pooled = usual
    if 0 < error < np.inf:
        precision = 1 / error**2
        usual_precision = 1 / (NATURAL_SPREAD * usual) ** 2
        total = among_contenders * precision + usual * usual_precision
        pooled = total / (precision + usual_precision)
    share = float(np.clip(pooled / usual, 0.0, 1.0))
    gains = np.array([_gain(half, max(own_weight, 0.0), share * usual) for half in halves])
    is_known = np.isfinite(gains)
    by_prompt = np.nansum(gains, axis=0)[is_known.any(axis=0)]
    by_prompt = by_prompt / is_known.sum(axis=0)[is_known.any(axis=0)]
    limit = LOST * by_prompt.std() / np.sqrt(max(len(by_prompt), 1))
    if len(by_prompt) >= FEWEST_CHECKED_PROMPTS and by_prompt.mean() < limit:
        return 0.0
    return share


def _is_contender(means: Array, among: Mask) -> Mask:
    """The best quarter of the marked candidates of each prompt, at least two."""
    rank = np.argsort(np.argsort(np.where(among, -means, np.inf), axis=1), axis=1)
    count = max(FEWEST_CONTENDERS, round(CONTENDER_SHARE * means.shape[1]))
    return np.asarray(rank < count)


def _normal_equations(half: HalfRatings, among: Mask) -> Array:
    """By prompt, the normal equations of judged means on taught ones and prediction, (P, 2, 3)."""
    weight = among.astype(np.float64)
    taught = weighted_deviation(half.taught, weight)
    predicted = weighted_deviation(half.predicted, weight)
    judged = weighted_deviation(half.judged, weight)
    rows = []
    for left in (taught, predicted):
        products = [(left * right).sum(axis=1) for right in (taught, predicted, judged)]
        rows.append(np.stack(products, axis=-1))
    return np.stack(rows, axis=1)


def _solve(equations: Array) -> tuple[tuple[float, float], float]:
    """The two coefficients, and the standard error of the second, clustered by prompt."""
    total = equations.sum(axis=0)
    products = total[:, :2]
    if np.linalg.det(products) <= 1e-12 * products[0, 0] * products[1, 1]:
        return (1.0, 0.0), np.inf
    inverse = np.linalg.inv(products)
    solution = inverse @ total[:, 2]
    residual = equations[:, :, 2] - equations[:, :, :2] @ solution
    error = float(np.sqrt(((residual @ inverse[1]) ** 2).sum()))
    return (float(solution[0]), float(solution[1])), error


def _gain(half: HalfRatings, own_weight: float, weight: float) -> Array:
    """What choosing with the prediction gains over choosing without, on the other half, (P,)."""
    in_both = half.in_both
    with_prediction = own_weight * half.taught + weight * half.predicted
    without = half.taught + 1e-9 * half.predicted
    gain = _at_largest(half.judged, with_prediction, in_both)
    gain = gain - _at_largest(half.judged, without, in_both)
    return np.where(in_both.sum(axis=1) >= FEWEST_CONTENDERS, gain, np.nan)


def _at_largest(values: Array, score: Array, among: Mask) -> Array:
    """The value where the score is largest among the marked, (P,)."""
    index: Integers = np.where(among, score, -np.inf).argmax(axis=1)
    return np.asarray(values[np.arange(len(values)), index])


def weighted_deviation(values: Array, weight: Array) -> Array:
    """Values (P, K) less their prompt's weighted mean, 0 where the weight is 0."""
    total = np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
    mean = (values * weight).sum(axis=1, keepdims=True) / total
    return np.where(weight > 0, values - mean, 0.0)
