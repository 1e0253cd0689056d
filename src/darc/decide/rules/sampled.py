"""Rules that draw, as a hedge against a hacked reward; the draws are seeded per prompt."""

from collections.abc import Mapping
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
    eligible = pools.eligible
    mean = pools.statistics.mean
    if level == 0:
        return largest(pools, mean)
    top = np.max(np.where(eligible, mean, -np.inf), axis=1, keepdims=True)
    below_top = np.where(eligible, mean, top) - top
    with np.errstate(over="ignore"):
        weight = np.where(eligible, np.exp(below_top / level), 0.0)
    weight = weight * pools.copies
    reached = np.cumsum(weight, axis=1)
    point = uniforms(pools.seeds, 1) * reached[:, -1:]
    index = np.minimum((reached <= point).sum(axis=1), eligible.shape[1] - 1)
    probability = weight / reached[:, -1:]
    return Choice(index, np.where(eligible, probability, np.nan), eligible)


# A larger b would overflow, and chooses like this one.
LARGEST_B = 1e200


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
    level = min(check_level("b", b), LARGEST_B)
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


def _among(answers: Integers, values: Array | Mask, default: float) -> Any:
    """Values (P, K) of the candidate behind each answer, (P, answers), `default` where none is."""
    answer_values = np.take_along_axis(values, np.maximum(answers, 0), axis=1)
    return np.where(answers >= 0, answer_values, default)


# The rates that the paper tries.
RATES = (4.0, 8.0, 12.0, 16.0)


def _poisson_grid(scale: Scale, size: str) -> Variants:
    """Rates from four times the candidates down to 1, and those that the paper tries."""
    rates = np.geomspace(1, 4 * scale.candidates, STRENGTHS[size])
    rounded = {float(f"{rate:.2g}") for rate in rates}
    return [{"rate": rate} for rate in sorted({*rounded, *RATES}, reverse=True)]


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
    """Choose the largest reward within a uniform random subset of the eligible candidates.

    Args:
        pools: The pools to choose from.
        rate: The Poisson rate of the size of the subset: one number, or one per prompt, (P,).
        reward: What to compare, "mean" or "original".

    Returns:
        The choice. The flag `capped` tells where K bound the size.
    """
    eligible = pools.eligible
    rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), len(eligible))
    for wrong in rates[~((rates > 0) & (rates < 1e6))]:
        raise InputError(f"rate must be above 0, not {wrong}", "12 is usual")
    answers = pools.expanded()
    usable = _among(answers, eligible, False)
    numbers = uniforms(pools.seeds, answers.shape[1] + 1)
    subset_size = np.zeros(len(eligible), dtype=np.int64)
    for one_rate in np.unique(rates):
        has_rate = rates == one_rate
        subset_size[has_rate] = poisson_numbers(float(one_rate), numbers[has_rate, 0])
    available = usable.sum(axis=1)
    order = np.argsort(np.where(usable, numbers[:, 1:], np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    rows, places = np.nonzero(usable & (place < np.clip(subset_size, 1, available)[:, None]))
    subset = np.zeros_like(eligible)
    subset[rows, answers[rows, places]] = True
    return largest(
        pools,
        pools.reward(reward),
        subset,
        flags={"capped": subset_size > available},
        facts={"near": subset.sum(axis=1), "rate": rates},
    )


# Fewer prompts than this are not enough to choose a rate.
FEWEST_PROMPTS = 10
# Splits the prompts by numbers other than those that draw their subsets.
_SPLIT_SEED = np.uint64(0x5A17C0DE)


def _fit_rate(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tune the rate on the pools, unless it is given."""
    if parameters["rate"] is not None:
        return {}
    return tune(pools, parameters["rates"])


@rule(
    "hedgetune",
    takes=("copies",),
    explanation="the largest reward of {near} candidates drawn at rate {rate:g}",
    alone="the only candidate drawn at rate {rate:g}",
    calibrate=_fit_rate,
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
        tuned = tune(pools, rates)
        rate = tuned["rate"]
        cut = tuned["cut"]
    if not isinstance(rate, tuple | list):
        return best_drawn(pools, rate, reward)
    if len(rate) != 2:
        raise InputError(f"rate is {rate}", "give one number, or one for either half")
    below_cut = _split_numbers(pools) < cut
    return best_drawn(pools, np.where(below_cut, rate[0], rate[1]), reward)


def tune(pools: Pools, rates: tuple[float, ...] = RATES) -> dict[str, Any]:
    """Tune the rate of each half of the prompts on the other half.

    Returns:
        The parameters `rate`, for prompts below and above `cut`, and `cut`.

    Raises:
        InputError: If there are too few prompts or samples.
    """
    prompts, _, _, size = pools.shape
    if prompts < FEWEST_PROMPTS or size < 2:
        raise InputError(
            f"hedgetune cannot choose a rate from {prompts} prompts with {size} samples",
            f"give rate=..., or at least {FEWEST_PROMPTS} prompts with two samples each",
        )
    split_numbers = _split_numbers(pools)
    cut = float(np.median(split_numbers))
    below = split_numbers < cut
    rate_below = tune_rate(pools, ~below, rates)
    rate_above = tune_rate(pools, below, rates)
    return {"rate": (rate_below, rate_above), "cut": cut}


def _split_numbers(pools: Pools) -> Array:
    """What the prompts are halved by, (P,), in [0, 1)."""
    return uniforms(pools.seeds ^ _SPLIT_SEED, 1)[:, 0]


def tune_rate(pools: Pools, among: Mask, rates: tuple[float, ...] = RATES) -> float:
    """Find the rate with the largest expected held-out mean; ties go to the largest rate.

    Even samples select and odd samples judge, and the expectation over the random subset is exact.

    Args:
        pools: The pools of all prompts.
        among: The prompts to use, (P,).
        rates: The rates to try.
    """
    selecting = pools.normalized(risk.mean(pools.samples[..., 0::2])).mean(axis=1)
    judging = pools.normalized(risk.mean(pools.samples[..., 1::2])).mean(axis=1)
    usable = pools.eligible & ~np.isnan(selecting) & ~np.isnan(judging) & among[:, None]
    answers = pools.expanded()
    selecting = _among(answers, selecting, np.nan)
    judging = _among(answers, judging, np.nan)
    usable = _among(answers, usable, False)
    order = np.argsort(np.where(usable, -selecting, np.inf), axis=1, kind="stable")
    ranked = np.take_along_axis(np.where(usable, judging, 0.0), order, axis=1)
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
