"""Best-of-Poisson with its rate chosen on prompts that it does not decide."""

from collections.abc import Mapping
from math import exp, lgamma, log
from typing import Any

import numpy as np

from darc.core import risk
from darc.core.draws import uniforms
from darc.errors import InputError
from darc.registry import rule
from darc.rules.poisson import best_drawn
from darc.selection.pools import Pools
from darc.selection.rule import Choice
from darc.typing import Array, Mask

RATES = (4.0, 8.0, 12.0, 16.0)
FEWEST = 10
# Splits the prompts by numbers other than those that draw their subsets.
_OTHER = np.uint64(0x5A17C0DE)


def _calibrate(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    if parameters["rate"] is not None:
        return parameters
    return {**parameters, **tune(pools, parameters["rates"])}


@rule(
    "hedgetune",
    because="the largest reward of {near} candidates drawn at rate {rate:g}",
    alone="the only candidate drawn at rate {rate:g}",
    calibrate=_calibrate,
)
def hedgetune(
    pools: Pools,
    *,
    rate: float | tuple[float, float] | None = None,
    cut: float = 0.5,
    rates: tuple[float, ...] = RATES,
    reward: str = "mean",
) -> Choice:
    """Best-of-Poisson; each half of the prompts takes the rate that did best on the other half.

    The halves are drawn by (seed, prompt_id): below and above `cut`. The first batch of prompts
    gives `rate` two numbers, one for either half; later batches keep them.
    """
    if rate is None:
        fitted = tune(pools, rates)
        rate, cut = fitted["rate"], fitted["cut"]
    low, *more = rate if isinstance(rate, tuple | list) else (rate, rate)
    if len(more) != 1:
        raise InputError(f"rate is {rate}", "give one number, or one for either half")
    return best_drawn(pools, np.where(_drawn(pools) < cut, low, more[0]), reward)


def tune(pools: Pools, rates: tuple[float, ...] = RATES) -> dict[str, Any]:
    """The parameters `rate`, for prompts below and above `cut`, each tuned on the others."""
    prompts, size = len(pools.samples), pools.shape[3]
    if prompts < FEWEST or size < 2:
        raise InputError(
            f"hedgetune cannot choose a rate from {prompts} prompts with {size} samples",
            f"give rate=..., or at least {FEWEST} prompts with two samples each",
        )
    drawn = _drawn(pools)
    cut = float(np.median(drawn))
    below = drawn < cut
    return {"rate": (tune_rate(pools, ~below, rates), tune_rate(pools, below, rates)), "cut": cut}


def _drawn(pools: Pools) -> Array:
    """What the prompts are halved by, (P,), in [0, 1)."""
    return uniforms(pools.seeds ^ _OTHER, 1)[:, 0]


def tune_rate(pools: Pools, among: Mask, rates: tuple[float, ...] = RATES) -> float:
    """The rate with the largest expected held-out mean among (P,) prompts; ties to the largest.

    Even samples select and odd samples judge, and the expectation over the random subset is exact.
    """
    chosen = pools.normalized(risk.mean(pools.samples[..., 0::2])).mean(axis=1)
    judged = pools.normalized(risk.mean(pools.samples[..., 1::2])).mean(axis=1)
    usable = pools.eligible & ~np.isnan(chosen) & ~np.isnan(judged) & among[:, None]
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
