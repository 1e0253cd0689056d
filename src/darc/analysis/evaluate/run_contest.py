"""Every method judged on every split of some ratings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.analysis import metrics
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.lambdas import settled_lambdas, split_lambdas
from darc.analysis.evaluate.methods import (
    BASELINE,
    SplitDecisions,
    decide_halves,
    with_normalization,
)
from darc.analysis.evaluate.settings import ContestSettings
from darc.decide.method import Method
from darc.decide.statistics import risk
from darc.errors import InputError
from darc.ratings.ratings import Halves, Ratings
from darc.types import clipped
from darc.typing import Array, Integers, Mask

# With more groups of raters there is no table of the worst one.
_MOST_GROUPS = 20


def compare_rules(ratings: Ratings, settings: ContestSettings) -> Contest:
    """Judge every method on every split of some ratings. O(R) passes over the samples per method.

    Raises:
        InputError: Nothing can be held out.
    """
    splits = Splits(ratings, settings)
    unit = ratings.split_unit(settings.split)
    return contest_of(ratings, splits, settings, settings.methods, unit)


@dataclass(frozen=True)
class Splits:
    """The halves of each split, drawn one at a time whenever they are iterated over."""

    ratings: Ratings
    settings: ContestSettings

    def __iter__(self) -> Iterator[Halves]:
        unit = self.ratings.split_unit(self.settings.split)
        for repeat in range(self.settings.splits):
            yield self.ratings.halves(unit, self.settings.seed + repeat)


def contest_of(
    ratings: Ratings,
    halves: Iterable[Halves],
    settings: ContestSettings,
    methods: Sequence[Method],
    split: str,
    lambdas: Array | None = None,
) -> Contest:
    """Judge methods on given halves.

    The halves are looked at one after the other, and a few numbers per prompt and method are
    stored of each.

    Args:
        ratings: The ratings that name the prompts, side inputs, lengths and bounds.
        halves: The halves of each split.
        settings: How the evaluation is made.
        methods: The methods, Best-of-K first.
        split: What was divided, see `Contest.split`.
        lambdas: Weights of sigma (R, P) from other halves than these, such as larger ones.

    Raises:
        InputError: Best-of-K fails, or no candidate has samples in both halves.
    """
    methods = with_normalization(methods, ratings, settings.normalize)
    splits: list[_JudgedSplit] = []
    totals = _Totals()
    for repeat, split_halves in enumerate(halves):
        decided = decide_halves(methods, split_halves, settings.seed + repeat)
        totals.add(decided, split_halves)
        if BASELINE in totals.failures:
            raise InputError(f"{ratings.name}: Best-of-K failed: {totals.failures[BASELINE]}")
        methods = [method for method in methods if method.text not in totals.failures]
        if lambdas is None:
            weights = split_lambdas(ratings, settings, split_halves, split)
        else:
            weights = lambdas[repeat]
        texts = [method.text for method in methods]
        splits.append(_judge_split(settings, split_halves, decided, texts, weights))
    return _merged(ratings, settings, split, splits, totals)


class _Totals:
    """What is counted over all splits, by the text of the method."""

    def __init__(self) -> None:
        self.failures: dict[str, str] = {}
        self.flags: dict[str, Counter[str]] = {}
        self.seconds: Counter[str] = Counter()
        self.left_out = 0

    def add(self, decided: SplitDecisions, halves: Halves) -> None:
        """Count a split."""
        self.failures |= decided.failures
        for text, flags in decided.flags.items():
            self.flags.setdefault(text, Counter()).update(flags)
        self.seconds.update(decided.seconds)
        self.left_out += halves.left_out


@dataclass(frozen=True, eq=False)
class _JudgedSplit:
    """The numbers of one split; see the fields of `Contest`, which have an axis for splits."""

    methods: list[str]
    choice: Integers
    reward: Array
    risk: Array
    outcome: Array
    pairwise: Array
    rewards: Array
    scales: Array
    usable: Mask
    disagreement: Array
    judged_disagreement: Array
    lambdas: Array
    by_group: Array


def _judge_split(
    settings: ContestSettings,
    halves: Halves,
    decided: SplitDecisions,
    methods: list[str],
    lambdas: Array,
) -> _JudgedSplit:
    """Judge the choices of one split by the half that did not select."""
    judge = halves.judge
    no_choice = np.full(len(halves.usable), -1, dtype=np.int64)
    choice = np.stack([decided.choices.get(text, no_choice) for text in methods])
    baseline = choice[0]
    judged = metrics.aggregate(judge.samples)
    seen = metrics.aggregate(halves.select.samples)
    reward = metrics.values_at(judged.mean, choice)
    sigma = judged.sigma
    if settings.sigma == "selection":
        sigma = seen.sigma
    outcome = reward
    if settings.outcome == "lcb":
        candidates = (judged.count > 0).sum(axis=1).astype(np.float64)
        outcome = metrics.values_at(metrics.lower_bound(judged, candidates), choice)
    disagreement = metrics.values_at(seen.sigma, baseline)
    if settings.subset == "pool":
        largest_sigma = np.fmax.reduce(seen.sigma, axis=1)
        disagreement = np.where(halves.usable, largest_sigma, np.nan)
    means_by_scorer = risk.mean(judge.samples).swapaxes(0, 1)
    _, scales = metrics.pooled_units(judge.samples)
    return _JudgedSplit(
        methods=methods,
        choice=choice.astype(np.int32),
        reward=reward,
        risk=metrics.values_at(sigma, choice),
        outcome=outcome,
        pairwise=metrics.pairwise_scores(judge.samples, judge.raters, choice, baseline),
        rewards=np.stack([metrics.values_at(means, choice) for means in means_by_scorer], axis=1),
        scales=scales,
        usable=halves.usable,
        disagreement=disagreement,
        judged_disagreement=metrics.values_at(judged.sigma, baseline),
        lambdas=lambdas,
        by_group=_by_group(judge, choice),
    )


def _by_group(judge: Ratings, choice: Integers) -> Array:
    """The mean of each choice by each group of raters, (A, G, P), without groups where none are."""
    names = sorted(set(judge.groups.values()))
    if len(names) < 2 or len(names) > _MOST_GROUPS or judge.shape[1] > 1:
        return np.zeros((len(choice), 0, choice.shape[1]))
    place_of_group = {name: place for place, name in enumerate(names)}
    code_of_rater = [
        place_of_group.get(judge.groups.get(name, ""), -1) for name in judge.rater_names
    ]
    # The last entry is where the code of nobody points to.
    codes = np.array([*code_of_rater, -1])[judge.raters]
    return metrics.group_scores(judge.samples, codes, len(names), choice)


def _merged(
    ratings: Ratings,
    settings: ContestSettings,
    split: str,
    splits: Sequence[_JudgedSplit],
    totals: _Totals,
) -> Contest:
    """The contest of all splits."""
    usable = np.stack([part.usable for part in splits])
    if not usable.any():
        raise InputError(
            f"{ratings.name}: no candidate has samples for both selecting and judging",
            "rate each candidate at least twice",
        )
    # A method that failed in some split is in none.
    methods = splits[-1].methods
    rows = [[part.methods.index(text) for text in methods] for part in splits]

    def by_method(name: str) -> Any:
        """A field (R, A, ...) of the methods that ran in all splits."""
        arrays = [getattr(part, name)[row] for part, row in zip(splits, rows, strict=True)]
        return np.stack(arrays)

    disagreement = np.stack([part.disagreement for part in splits])
    prompt_ids = list(ratings.prompt_ids)
    high = [
        metrics.high_subset(row, mask, prompt_ids, settings.share)
        for row, mask in zip(disagreement, usable, strict=True)
    ]
    reward = by_method("reward")
    outcome = reward
    if settings.outcome != "mean":
        outcome = by_method("outcome")
    lambdas = np.stack([part.lambdas for part in splits])
    by_group = by_method("by_group")
    flags = {text: _shares(totals.flags.get(text, {}), int(usable.sum())) for text in methods}
    return Contest(
        ratings=ratings,
        settings=settings,
        split=split,
        methods=methods,
        choice=by_method("choice"),
        reward=reward,
        risk=by_method("risk"),
        outcome=outcome,
        pairwise=by_method("pairwise"),
        rewards=by_method("rewards"),
        scales=np.stack([part.scales for part in splits]),
        usable=usable,
        high=np.stack(high),
        disagreement=disagreement,
        judged_disagreement=np.stack([part.judged_disagreement for part in splits]),
        lambdas=settled_lambdas(ratings, lambdas, split),
        by_group=by_group if by_group.shape[2] else None,
        not_run=totals.failures,
        flags=flags,
        seconds={text: totals.seconds[text] for text in methods},
        left_out=totals.left_out / len(splits),
        clipped_share=_clipped_share(ratings),
    )


def _shares(counts: dict[str, int], total: int) -> dict[str, float]:
    return {name: count / total for name, count in counts.items()}


def _clipped_share(ratings: Ratings) -> float:
    """The share of samples outside their scorer's bounds."""
    distance = np.abs(clipped(ratings.samples, ratings.bounds) - ratings.samples)
    # The distance of a missing sample is NaN, which is not above 0.
    return float((distance > 0).sum() / max(1, ratings.present.sum()))
