"""Rules that draw, as a hedge against a hacked reward; the draws are seeded per prompt."""

from math import exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.choice import Choice, largest
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.statistics import risk
from darc.decide.statistics.arrays import check_level
from darc.decide.statistics.draws import poisson as poisson_numbers
from darc.decide.statistics.draws import uniforms
from darc.decide.tuning_grid import STRENGTHS, Scale, Variants, knob
from darc.errors import InputError
from darc.typing import Array, Integers, Level, Mask, Positive, Reward


@rule(
    "soft",
    takes=("copies",),
    explanation="been drawn with probability proportional to exp(mean / T), T = {temperature:g}",
    grid=knob("temperature", 0.02, 2.0, power=1),
)
def soft(pools: Pools, *, temperature: Positive = 1.0) -> Choice:
    """A candidate drawn with probability proportional to exp(mean / T), seeded per prompt.

    One that was written several times (side input `copies`) is as many times as probable.
    """
    level = check_level("temperature", temperature)
    eligible, mean = pools.eligible, pools.statistics.mean
    if level == 0:
        return largest(pools, mean)
    top = np.max(np.where(eligible, mean, -np.inf), axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        weight = np.where(eligible, np.exp((np.where(eligible, mean, top) - top) / level), 0.0)
    weight = weight * pools.copies
    reached = np.cumsum(weight, axis=1)
    point = uniforms(pools.seeds, 1) * reached[:, -1:]
    index = np.minimum((reached <= point).sum(axis=1), eligible.shape[1] - 1)
    probability = weight / reached[:, -1:]
    return Choice(index, np.where(eligible, probability, np.nan), eligible)


MOST = 1e200


@rule(
    "pessimism",
    takes=("copies",),
    explanation="been accepted first, by a weight that rises with its mean",
    evaluated_by_default=False,
)
def pessimism(pools: Pools, *, b: Level = 1.0) -> Choice:
    """A candidate accepted with probability w / max w, w = max(0, (mean - t) / b), mean w = 1.

    Candidates are offered in a random order, seeded per prompt; the larger b, the nearer to a plain
    draw, and 0 is Best-of-K. Huang et al., Is Best-of-N the best of them? (arXiv 2503.21878).
    """
    level = min(check_level("b", b), MOST)
    if level == 0:
        return largest(pools, pools.statistics.mean)
    answers = pools.expanded()
    eligible = _among(answers, pools.eligible, False)
    mean = _among(answers, pools.statistics.mean, np.nan)
    size = eligible.shape[1]
    top = np.max(np.where(eligible, mean, -np.inf), axis=1, keepdims=True)
    gap = np.where(eligible, mean - top, -np.inf)
    # Of the first j by mean each gives a lower bound of t, and the right j gives t itself.
    ordered = -np.sort(-gap, axis=1)
    total = np.cumsum(np.where(np.isinf(ordered), 0.0, ordered), axis=1)
    number = eligible.sum(axis=1, keepdims=True)
    first = np.arange(1, size + 1)
    bounds = np.where(first <= number, (total - level * number) / first, -np.inf)
    t = bounds.max(axis=1, keepdims=True)
    accepted = np.where(eligible, np.maximum(gap - t, 0.0) / -t, 0.0)
    lots = uniforms(pools.seeds, 2 * size)
    offered = np.where(lots[:, size:] < accepted, lots[:, :size], np.inf)
    index = np.take_along_axis(answers, offered.argmin(axis=1)[:, None], axis=1)[:, 0]
    chance = np.full(pools.eligible.shape, np.nan)
    rows, places = np.nonzero(eligible)
    chance[rows, answers[rows, places]] = accepted[rows, places]
    return Choice(index, chance, pools.eligible)


def _among(answers: Integers, values: Array | Mask, nothing: float) -> Any:
    """Values (P, K) of the candidate behind each answer, (P, answers), `nothing` where none is."""
    found = np.take_along_axis(values, np.maximum(answers, 0), axis=1)
    return np.where(answers >= 0, found, nothing)


def _poisson_grid(scale: Scale, size: str) -> Variants:
    rates = np.geomspace(1, 4 * scale.candidates, STRENGTHS[size])
    found = {float(f"{rate:.2g}") for rate in rates} | {4.0, 8.0, 12.0, 16.0}
    return [{"rate": rate} for rate in sorted(found, reverse=True)]


@rule(
    "poisson",
    takes=("copies",),
    explanation="the largest reward of {near} candidates drawn",
    alone="the only candidate drawn",
    grid=_poisson_grid,
)
def poisson(pools: Pools, *, rate: Positive = 12.0, reward: Reward = "mean") -> Choice:
    """Largest reward within a random subset of clip(Poisson(rate), 1, K), seeded per prompt.

    The flag `capped` tells where K bound the draw. An answer that was written several times (side
    input `copies`) is as many of the K.
    """
    return best_drawn(pools, rate, reward)


def best_drawn(pools: Pools, rate: ArrayLike, reward: str) -> Choice:
    """The largest reward within a uniform subset of Poisson size of the eligible candidates.

    The rate is one number, or one a prompt; the flag `capped` tells where K bound the size.
    """
    eligible = pools.eligible
    rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), len(eligible))
    for wrong in rates[~((rates > 0) & (rates < 1e6))]:
        raise InputError(f"rate must be above 0, not {wrong}", "12 is usual")
    answers = pools.expanded()
    usable = _among(answers, eligible, False)
    numbers = uniforms(pools.seeds, answers.shape[1] + 1)
    wanted = np.zeros(len(eligible), dtype=np.int64)
    for each in np.unique(rates):
        wanted[rates == each] = poisson_numbers(float(each), numbers[rates == each, 0])
    available = usable.sum(axis=1)
    order = np.argsort(np.where(usable, numbers[:, 1:], np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    rows, drawn = np.nonzero(usable & (place < np.clip(wanted, 1, available)[:, None]))
    subset = np.zeros_like(eligible)
    subset[rows, answers[rows, drawn]] = True
    return largest(
        pools,
        pools.reward(reward),
        subset,
        flags={"capped": wanted > available},
        facts={"near": subset.sum(axis=1), "rate": rates},
    )


RATES = (4.0, 8.0, 12.0, 16.0)
FEWEST = 10
# Splits the prompts by numbers other than those that draw their subsets.
_OTHER = np.uint64(0x5A17C0DE)


@rule(
    "hedgetune",
    takes=("copies",),
    explanation="the largest reward of {near} candidates drawn at rate {rate:g}",
    alone="the only candidate drawn at rate {rate:g}",
    calibrate=lambda pools, p: tune(pools, p["rates"]) if p["rate"] is None else {},
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
    answers = pools.expanded()
    chosen = _among(answers, chosen, np.nan)
    judged = _among(answers, judged, np.nan)
    usable = _among(answers, usable, False)
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
