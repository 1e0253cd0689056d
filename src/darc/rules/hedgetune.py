"""Best-of-Poisson with its rate chosen once on a calibration split."""

from collections.abc import Mapping
from math import exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.core import risk
from darc.errors import InputError
from darc.registry import rule
from darc.rules.poisson import poisson
from darc.selection.choice import Choice
from darc.selection.pools import Pools

Array = NDArray[np.float64]

RATES = (4.0, 8.0, 12.0, 16.0)
FEWEST = 10


def _calibrate(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    if parameters["rate"] is not None:
        return parameters
    return {**parameters, "rate": tune_rate(pools, parameters["rates"])}


@rule(
    "hedgetune",
    because="the largest reward of {near} candidates drawn at rate {rate:g}",
    alone="the only candidate drawn at rate {rate:g}",
    calibrate=_calibrate,
)
def hedgetune(
    pools: Pools,
    *,
    rate: float | None = None,
    rates: tuple[float, ...] = RATES,
    reward: str = "mean",
) -> Choice:
    """Best-of-Poisson with the rate that did best on held-out samples of a calibration split."""
    if rate is None:
        rate = tune_rate(pools, rates)
    return poisson.function(pools, rate=rate, reward=reward)


def tune_rate(pools: Pools, rates: tuple[float, ...] = RATES) -> float:
    """The rate with the largest expected held-out mean; ties to the largest rate.

    Even samples select and odd samples judge, and the expectation over the random subset is exact.
    """
    if len(pools.samples) < FEWEST or pools.shape[3] < 2:
        raise InputError(
            f"hedgetune cannot choose a rate from {len(pools.samples)} prompts with "
            f"{pools.shape[3]} samples",
            f"give rate=..., or at least {FEWEST} prompts with two samples each",
        )
    chosen = pools.normalized(risk.mean(pools.samples[..., 0::2])).mean(axis=1)
    judged = pools.normalized(risk.mean(pools.samples[..., 1::2])).mean(axis=1)
    usable = pools.eligible & ~np.isnan(chosen) & ~np.isnan(judged)
    order = np.argsort(np.where(usable, -chosen, np.inf), axis=1, kind="stable")
    ranked = np.take_along_axis(np.where(usable, judged, 0.0), order, axis=1)
    counts = usable.sum(axis=1)
    gains = []
    for rate in rates:
        weights = {size: rank_weights(int(size), float(rate)) for size in set(counts.tolist())}
        padded = np.zeros_like(ranked)
        for row, size in enumerate(counts):
            padded[row, :size] = weights[int(size)]
        gains.append(float((padded * ranked).sum()))
    best = max(gains)
    return max(rate for rate, gain in zip(rates, gains, strict=True) if gain >= best)


def rank_weights(candidates: int, rate: float) -> Array:
    """Chance that each rank (best first) wins Best-of-Poisson, (K,)."""
    if candidates == 0:
        return np.zeros(0)
    logs = [size * log(rate) - rate - lgamma(size + 1) for size in range(candidates)]
    sizes = np.array([0.0, *(exp(value) for value in logs[1:]), 0.0])
    sizes[1] += exp(logs[0])
    sizes[candidates] += max(0.0, 1.0 - sizes.sum())
    result = np.zeros(candidates)
    for size in range(1, candidates + 1):
        # Rank r wins when it is drawn and the r better ones are not.
        miss = 1.0
        for rank in range(candidates - size + 1):
            hit = size / (candidates - rank)
            result[rank] += sizes[size] * miss * hit
            miss *= 1.0 - hit
    return result
