"""What several tables share: averages over splits, and paired intervals against Best-of-K."""

from dataclasses import dataclass

import numpy as np

from darc.evaluation.bootstrap import average, estimate, over_splits, tail
from darc.evaluation.study import Study
from darc.typing import Array, Mask


@dataclass(frozen=True, eq=False)
class Compared:
    """A metric of each method, (A,), and its difference to Best-of-K with a 95 % interval."""

    value: Array
    delta: Array
    low: Array
    high: Array

    def cells(self, method: int) -> tuple[float, float, float]:
        """The difference and its interval."""
        # What the order of summation leaves of a zero is no difference.
        parts = (self.delta[method], self.low[method], self.high[method])
        delta, low, high = (round(float(part), 12) + 0.0 for part in parts)
        return delta, low, high


def mean_of(values: Array, among: Mask) -> Array:
    """Mean (A,) over prompts, then splits, of values (R, A, P)."""
    return np.asarray(over_splits(average(values, among, np.ones((1, values.shape[2]))))[0])


def tail_of(values: Array, among: Mask, share: float) -> Array:
    """CVaR (A,) over prompts, averaged over splits, of values (R, A, P)."""
    return np.asarray(over_splits(tail(values, among, np.ones((1, values.shape[2])), share))[0])


def compared(study: Study, values: Array, among: Mask) -> Compared:
    """The mean of values (R, A, P), paired by prompt."""
    difference = values - values[:, :1]
    delta, ends = estimate(lambda counts: average(difference, among, counts), study.counts)
    return Compared(mean_of(values, among), delta, *ends)


def compared_tail(study: Study, among: Mask) -> Compared:
    """The CVaR over prompts of the study's outcome, each resample comparing the same prompts."""
    share = study.settings.tail

    def difference(counts: Array) -> Array:
        worst = tail(study.outcome, among, counts, share)
        return worst - worst[:, :, :1]

    delta, ends = estimate(difference, study.counts)
    return Compared(tail_of(study.outcome, among, share), delta, *ends)


def tally(signs: Array, among: Mask) -> list[tuple[float, float, float]]:
    """Wins, ties and losses of each method by signs (R, A, P), counted and averaged over splits."""
    there = among[:, None, :]
    used = np.maximum(among.any(axis=1).sum(), 1)
    counts = [np.where(there, signs == sign, False).sum(axis=(0, 2)) / used for sign in (1, 0, -1)]
    return [(float(win), float(tie), float(loss)) for win, tie, loss in zip(*counts, strict=True)]


def prompts_in(among: Mask) -> float:
    """Prompts in a subset, averaged over the splits that have any."""
    sizes = among.sum(axis=1)
    return float(sizes[sizes > 0].mean()) if (sizes > 0).any() else 0.0


def described(study: Study) -> str:
    """How the numbers of a study came about."""
    source, settings = study.source, study.settings
    how = {
        "rater": "raters split into halves that select and judge",
        "sample": "each candidate's samples split into halves that select and judge",
        "rewrite": "rewrites split by number into halves that select and judge",
        "joined": "proxy scores select and human ratings judge",
    }[study.split]
    times = "" if study.split == "joined" else f", averaged over {len(study.kept)} splits"
    note = f"{source.name}: {how}{times}. Tradeoff is reward - {study.lam:g} sigma"
    if settings.lam is None:
        note += " (lambda by median matching on "
        note += (
            "the other half of the prompts)"
            if study.split == "joined"
            else "the half that selects)"
        )
    note += f", sigma from the {settings.sigma} half."
    if any(name.startswith("hedgetune") and "rate=" not in name for name in study.methods):
        note += " hedgetune decides each half of the prompts by the rate chosen on the other half."
    if study.rewards.shape[2] > 1:
        note += (
            f" {study.rewards.shape[2]} scorers, each normalised by its own mean and deviation over"
            " the whole half that judges; reward is their mean, sigma their largest."
        )
    return note
