"""Whether a rule as it is given beats Best-of-K beyond noise, in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import (
    LEVEL,
    average,
    interval,
    largest,
    noise_band,
    over_splits,
    resampled,
    tail,
    unrounded,
)
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.report.pictures import metric_name
from darc.analysis.report.rule_tables import mean_of, prompts_in
from darc.typing import Array, Mask

NAMED = 4
FEWEST = 8
BAND = WORDS["summary"]["band"].format(level=LEVEL)
AS_GIVEN = WORDS["summary"]["as_given"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a contest says on one subset: differences to Best-of-K and their bands.

    `delta`, `margin` and `low` are (2, A), by tradeoff and by CVaR over prompts; beyond noise is
    |delta| > margin, and `low` the lower end of each difference's own interval. `mean` (A,) is the
    difference of the means.
    """

    source: str
    subset: str
    prompts: int
    methods: list[str]
    measures: tuple[str, str]
    delta: Array
    margin: Array
    low: Array
    mean: Array

    def better(self, measure: int, sign: int = 1) -> list[int]:
        """The methods that beat Best-of-K beyond noise, best first."""
        delta = sign * self.delta[measure]
        found = np.flatnonzero(delta > self.margin[measure])
        return sorted(found.tolist(), key=lambda a: (-delta[a], a))

    def worse(self, measure: int) -> list[int]:
        """The methods that lose to Best-of-K beyond noise, worst first."""
        return self.better(measure, -1)

    def lucky(self, measure: int) -> list[int]:
        """The methods whose own interval lies above 0, which may be luck among so many."""
        found = np.flatnonzero(self.low[measure] > 0)
        return [a for a in found.tolist() if a not in self.better(measure)]


def judge(contest: Contest, subset: str, among: Mask) -> Verdict:
    """The verdict of a contest on prompts (R, P), by one `noise_band` for all. O(B R A P)."""
    tradeoff = contest.tradeoff - contest.tradeoff[:, :1]
    size = np.array([[largest(contest.tradeoff)], [largest(contest.outcome)]])

    def measured(counts: Array) -> Array:
        worst = over_splits(tail(contest.outcome, among, counts, contest.settings.tail))
        found = [over_splits(average(tradeoff, among, counts)), worst - worst[:, :1]]
        return unrounded(np.stack(found, axis=1), size)

    whole = measured(np.ones((1, among.shape[1])))[0]
    drawn = resampled(measured, contest.counts)
    return Verdict(
        source=contest.ratings.name,
        subset=subset,
        prompts=round(prompts_in(among)),
        methods=contest.methods,
        measures=("tradeoff", contest.settings.tail_name),
        delta=whole,
        margin=noise_band(whole, drawn, size),
        low=interval(drawn)[0],
        mean=mean_of(contest.reward - contest.reward[:, :1], among),
    )


def verdicts(result: Evaluation) -> list[Verdict]:
    """A verdict for each contest and subset with other rules than Best-of-K and enough prompts."""
    return [
        judge(contest, subset, among)
        for contest in [*result.contests, *(contest for _, contest in result.pairs)]
        for subset, among in contest.subsets.items()
        if len(contest.methods) > 1 and prompts_in(among) >= FEWEST
    ]


def in_words(verdict: Verdict) -> str:
    """A verdict in words."""
    rules = len(verdict.methods) - 1
    where = f"{verdict.source}, {verdict.subset} ({verdict.prompts} prompts)"
    names = [metric_name(name) for name in verdict.measures]
    if np.isnan(verdict.delta[0]).all():
        names[0] = "tradeoff (unknown here)"

    wins = []
    for name, delta, found in zip(names, verdict.delta, map(verdict.better, (0, 1)), strict=True):
        each = [
            f"{verdict.methods[a]} {delta[a]:+.3f} (mean {verdict.mean[a]:+.3f})" for a in found
        ]
        listed = f"{len(found)} of {rules}: {_named(each)}" if found else "none"
        wins.append(f"by {name} {listed}")
    said = f"{where}: rules as given that beat Best-of-K beyond noise: {'; '.join(wins)}."
    if not verdict.better(0) and not verdict.better(1):
        said = f"{where}: of {rules} rules as given none beats Best-of-K beyond noise, by "
        said += f"{names[0]} or by {names[1]}."
    for text, found_by in (
        ("Taken alone, intervals above 0", verdict.lucky),
        ("Worse beyond noise", verdict.worse),
    ):
        parts = [
            f"by {name} {_named([verdict.methods[a] for a in found_by(m)])}"
            for m, name in enumerate(names)
            if found_by(m)
        ]
        said += f" {text}: {'; '.join(parts)}." if parts else ""
    return said


def summary(result: Evaluation, found: Sequence[Verdict], advice: Sequence[str] = ()) -> list[str]:
    """The sentences that come first: the advice, what the data say, and how far to trust them."""
    said = [*advice, *(in_words(verdict) for verdict in found)]
    if not found:
        why = f"there are fewer than {FEWEST} prompts or no other rule"
        return [*said, f"Whether a rule beats Best-of-K cannot be told: {why}."]
    said.append(f"{BAND} {AS_GIVEN}" if advice else BAND)
    sources = [contest.ratings for contest in result.contests]
    if names := ", ".join(source.name for source in sources if source.kind != "rater"):
        said.append(f"In {names} scorers judge held-out rewrites; no person was asked.")
    frame = result.frame("validity")
    wanted = {"metric": "spearman", "scorer": "all", "items": "all candidates"}
    for row in () if frame is None else frame.where(**wanted).records():
        low, high = row["low"], row["high"]
        text = f"The sigma of {row['source']} follows that of {row['ratings']} with a rank "
        text += f"correlation of {row['value']:.2f}"
        if isinstance(low, float) and isinstance(high, float):
            text += f" [{low:.2f}, {high:.2f}]" + ("" if low > 0 else ", which may be none")
        said.append(f"{text} ({row['n']} candidates).")
    return said


def _named(words: Sequence[str]) -> str:
    shown = ", ".join(words[:NAMED])
    return shown if len(words) <= NAMED else f"{shown} and {len(words) - NAMED} more"


def answer(found: Sequence[Verdict]) -> str:
    """Whether any rule beats Best-of-K, in a sentence; empty where nothing can be said."""
    wins = [(v, m, a) for v in found for m in (0, 1) for a in v.better(m)]
    if not wins:
        return "No rule beats Best-of-K beyond noise." if found else ""
    verdict, measure, at = wins[0]
    others = len({v.methods[a] for v, _, a in wins}) - 1
    more = "" if not others else f" ({others} other{'s' * (others > 1)} too)"
    return (
        f"Yes: {verdict.methods[at]}{more} beats Best-of-K beyond noise, by "
        f"{verdict.delta[measure, at]:+.3f} in {metric_name(verdict.measures[measure])} on "
        f"{_for_whom(verdict)}."
    )


def _for_whom(verdict: Verdict) -> str:
    subset = {"overall": "all", "high-variance": "the most contested"}
    return f"{subset.get(verdict.subset, verdict.subset)} {verdict.prompts} prompts"


def wins_frame(found: Sequence[Verdict]) -> Frame:
    """For whom Best-of-K is beaten, by how much: a row a verdict and measure."""
    rows = []
    for verdict in found:
        for measure, name in enumerate(verdict.measures):
            better = verdict.better(measure)
            gains = np.where(np.isnan(verdict.delta[measure]), -np.inf, verdict.delta[measure])
            at = better[0] if better else 1 + int(gains[1:].argmax())
            delta, margin = verdict.delta[measure, at], verdict.margin[measure, at]
            row: Record = {"source": verdict.source, "on": _for_whom(verdict)}
            row |= {"in": metric_name(name), "beaten": "yes" if better else "no"}
            row |= {"best rule": verdict.methods[at], "delta": delta}
            row |= {"low_delta": delta - margin, "high_delta": delta + margin}
            rows.append(row | {"mean change": verdict.mean[at], "rules that beat it": len(better)})
    return table("wins", rows)
