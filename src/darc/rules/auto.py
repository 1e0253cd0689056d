"""The rule one can leave on: shrunken means, less what disagreement has earned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.core.arrays import check_level
from darc.core.risk import entropic_value
from darc.core.statistics import c4
from darc.registry import rule
from darc.selection import plans
from darc.selection.calibration import DEFAULT, Calibration, Given, calibrations, learn
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest, no_knobs
from darc.typing import Array, Integers, Level, Mask


def _calibrate(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """A calibration learnt from the batch, the default one for one prompt, unless one is given."""
    prompts, scorers, _, _ = pools.shape
    if parameters["calibration"] is not None:
        return {}
    if prompts == 1:
        return {"calibration": DEFAULT}
    lam = check_level("lam", parameters["lam"])
    ratings = pools.normalized(pools.samples)
    learnt = tuple([learn(ratings[:, m], pools.raters, pools.systems, lam) for m in range(scorers)])
    return {"calibration": learnt[0] if scorers == 1 else learnt}


@rule(
    "auto",
    because="the largest {what}{less}{hedge}",
    few=True,
    calibrate=_calibrate,
    plan=plans.auto,
    grid=no_knobs,
)
def auto(pools: Pools, *, lam: Level = 2.0, calibration: Given = None) -> Choice:
    """Largest shrunken mean less as much of the disagreement as ratings have earned it.

    The posterior expectation of mean - lam sigma: a candidate with few samples is drawn towards the
    prompt's average, or its system's, and disagreement has the weight that the calibration gives it
    at that number of samples. Many prompts without a `calibration` are learnt from; one prompt is
    decided by a default that is fixed. Rater ids take out severity, system ids use what is known of
    a system. Several scorers, each with its own calibration, are hedged by a soft minimum (gamma).
    """
    seen = pools.eligible
    scored = _scored(
        pools, calibrations(calibration, pools.shape[1]), check_level("lam", lam), seen
    )
    choice = largest(pools, scored.score)
    return replace(choice, **_reasons(pools, scored, seen, choice.index))


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores (P, K), the weight of disagreement and each scorer's own score (P, M, K)."""

    score: Array
    weight: Array
    each: Array
    severe: bool
    known: Mask


def _scored(pools: Pools, given: Sequence[Calibration], lam: float, seen: Mask) -> Scored:
    """The scores of the candidates; what a prompt's average is, the `seen` (P, K) ones say."""
    inner = pools.by_scorer
    mean, sigma, shape = inner.mean, inner.sigma, inner.mean.shape
    count = np.asarray(inner.count, dtype=np.int64)
    if count.min() == count.max():
        # One number where all are alike, which saves most of the time.
        count = count[:1, :, :1]
    tables = [one.by_count(int(count.max(initial=1)), lam) for one in given]
    weight = np.stack([table[0][count[:, m]] for m, table in enumerate(tables)], axis=1)
    shrink = np.stack([table[1][count[:, m]] for m, table in enumerate(tables)], axis=1)
    severe = pools.raters is not None and any(one.raters for one in given)
    if severe:
        mean = mean - _severity(pools, given)
    pair = (count >= 2) & seen[:, None]
    disagreement = np.where(count >= 2, sigma / c4(count), 0.0)
    usual = _mean(disagreement, pair)
    calm = mean - weight * np.where(count >= 2, disagreement - usual, 0.0)
    effect = np.zeros((len(seen), 1, 1))
    if pools.systems is not None:
        names = pools.systems
        effect = np.stack([names.numbers(one.systems, (0.0, 0.0))[..., 0] for one in given], axis=1)
    # A prompt's average is that of candidates with a disagreement, unless hardly any has one.
    among = np.where(pair.sum(axis=2, keepdims=True) > 2, pair, (count > 0) & seen[:, None])
    if len(given) > 1:
        # On the scale of mean - weight disagreement, whose soft minimum is taken before shrinking.
        most = np.where(seen[:, None], count, 0).max(axis=2, initial=0)
        top = np.stack([table[0][most[:, m]] for m, table in enumerate(tables)], axis=1)
        calm = calm - top[..., None] * usual
        worth = np.asarray(entropic_value(np.moveaxis(calm, 1, -1), pools.gamma))[:, None]
        effect, shrink = (array.mean(axis=1, keepdims=True) for array in (effect, shrink))
        average = _mean(worth - effect, seen[:, None])
    else:
        worth, average = calm, _mean(mean - effect, among)
    prior = average + effect
    score = (prior + shrink * (worth - prior))[:, 0]
    known = np.any(effect != 0, axis=(1, 2))
    return Scored(score, np.broadcast_to(weight, shape), calm, severe, known)


def _reasons(pools: Pools, scored: Scored, seen: Mask, index: Integers) -> dict[str, Any]:
    """Flags and facts of the choices: what was compared, less how much disagreement, by whom."""
    rows, scorers = np.arange(len(index)), scored.each.shape[1]
    count = pools.statistics.count
    fewest = np.where(seen, count, np.inf).min(axis=1)
    ragged = fewest < np.where(seen, count, 0).max(axis=1)
    mean = "mean with raters' severity taken out" if scored.severe else "mean"
    texts = [mean, f"{mean} after shrinking", f"{mean} after shrinking towards its system's"]
    what = np.array(texts)[np.where(scored.known, 2, np.where(ragged, 1, 0))]
    weight = scored.weight[rows, :, index]
    less = np.array([""] * len(index), dtype=object)
    alike = bool((weight == weight[:1]).all())
    for pair in weight[:1] if alike else np.unique(weight, axis=0):
        if pair.any():
            told = " and ".join(dict.fromkeys(f"{each:.2g}" for each in pair))
            less[(weight == pair).all(axis=1)] = f", less {told} times its disagreement"
    facts = {"what": what, "less": less}
    if scorers > 1:
        own = scored.each[rows, :, index]
        facts["scorer"] = np.where(np.isnan(own), np.inf, own).argmin(axis=1)
    alone = ~np.any(seen & (count >= 2), axis=1)
    return {"flags": {"no_sigma": alone, "shrunk": ragged}, "facts": facts}


def _severity(pools: Pools, given: Sequence[Calibration]) -> Array:
    """The average offset of the raters of each candidate, (P, M, K)."""
    assert pools.raters is not None
    result = []
    for m, one in enumerate(given):
        known = ~np.isnan(pools.samples[:, m])
        mass = known if pools.weights is None else np.where(known, pools.weights[:, m], 0.0)
        offset = np.where(known, pools.raters.numbers(one.raters, 0.0), 0.0)
        total = mass.sum(axis=-1)
        result.append((offset * mass).sum(axis=-1) / np.where(total > 0, total, 1.0))
    return np.stack(result, axis=1)


def _mean(values: Array, among: Mask) -> Array:
    """The mean of values (..., K) over the marked ones, (..., 1), 0 where there is none."""
    times = among.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(among, values, 0.0).sum(-1, keepdims=True) / np.maximum(times, 1))
