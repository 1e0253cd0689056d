"""Every method judged on every split of one source."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from darc.analysis import metrics
from darc.analysis.bootstrap import draw_counts, largest
from darc.analysis.evaluate.methods import BASELINE, decide_halves, methods, with_normalization
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.statistics import risk
from darc.decide.statistics.draws import folds, prompt_seeds
from darc.errors import InputError
from darc.ratings.ratings import Halves, Ratings
from darc.settings.model import SettingsModel, option
from darc.types import clipped
from darc.typing import Array, Integers, Mask

Report = Callable[[int, int | None], None]


class ContestSettings(SettingsModel):
    """How an evaluation is made.

    `rules` empty means all; `lam` weighs sigma in the tradeoff, None for median matching. `share`
    and `subset` define the high-variance prompts, `tail` and `outcome` the CVaR over prompts. Rules
    that learn go by the `calibrations`, or else learn from each split's selecting half alone;
    `caution` is that of the rules that have one, None for their default.
    """

    rules: tuple[str, ...] = ()
    lam: float | None = 2.0
    share: float = Field(default=0.2, gt=0, le=1)
    tail: float = Field(default=0.1, gt=0, le=1)
    calibrations: Calibrations | None = None
    caution: str | None = None
    beta: float = option(1.0, "risk aversion")
    gamma: float = option(1.0, "hedge over scorers")
    normalize: Literal["auto", "prompt", "fixed", "none"] = option(
        "auto", "scale of the scorers in selection, auto: within the prompt if there are several"
    )
    split: Literal["auto", "rater", "sample"] = option(
        "auto", "what is split into halves, auto: raters where the same ones come back"
    )
    repeats: int = option(20, "splits", "R", ge=1, le=10_000)
    sigma: Literal["evaluation", "selection"] = option(
        "evaluation", "the half that risk is measured on"
    )
    subset: Literal["baseline", "pool"] = option(
        "baseline", "high-variance prompts by Best-of-K's choice, or by the pool's largest sigma"
    )
    outcome: Literal["mean", "lcb"] = option("mean", "what CVaR over prompts is of")
    threshold: float = option(0.0, "smaller differences are ties")
    draws: int = option(2000, "bootstrap draws", "N", ge=1, le=1_000_000)
    seed: int = option(0, "seed of splits and draws")

    def model_post_init(self, context: object) -> None:
        """Refuse calibrations and a caution that no rule takes."""
        if self.calibrations is not None or self.caution is not None:
            methods(self.rules, calibrations=self.calibrations, caution=self.caution)

    @property
    def methods(self) -> list[Method]:
        """The rules, Best-of-K first."""
        return methods(self.rules, self.beta, self.gamma, self.calibrations, self.caution)

    @property
    def tail_name(self) -> str:
        """What the CVaR over prompts is called."""
        return f"cvar_{round(100 * self.tail)}"


@dataclass(frozen=True, eq=False)
class Contest:
    """What R splits say of A methods on P prompts; the first method is Best-of-K.

    `choice`, `reward`, `risk`, `outcome` (what the CVaR is of) and `pairwise` are (R, A, P), NaN
    (-1 for `choice`) where a prompt is not kept in a split; `rewards` (R, A, M, P) are per scorer
    on its raw scale. `lambdas` (R, P) weigh sigma: one number, or by median matching that of each
    split's selecting half. `usable`, `high` (the high-variance subset) and `disagreement` (of the
    baseline's choice, on the selection half; `judged_disagreement` on the half that judges) are
    (R, P). `scales` (R, M) are the scorers' pooled deviations on the half that judges. `not_run`
    has a reason for each method left out.
    """

    ratings: Ratings
    settings: ContestSettings
    split: str
    methods: list[str]
    choice: Integers
    reward: Array
    risk: Array
    outcome: Array
    pairwise: Array
    rewards: Array
    scales: Array
    usable: Mask
    high: Mask
    disagreement: Array
    judged_disagreement: Array
    lambdas: Array
    not_run: dict[str, str] = field(default_factory=dict)
    flags: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: float = 0.0
    clipped_share: float = 0.0

    @property
    def tradeoff(self) -> Array:
        """The tradeoff reward - lambda risk, (R, A, P)."""
        return self.weighed()

    @property
    def length(self) -> Array:
        """The lengths of the choices, (R, A, P)."""
        return metrics.taken(self.ratings.lengths, self.choice)

    @property
    def lam(self) -> float:
        """The lambda used, the mean where it differs between splits."""
        return float(self.lambdas.mean())

    def weighed(self, factor: float = 1.0) -> Array:
        """The tradeoff at a multiple of lambda, (R, A, P)."""
        return np.asarray(self.reward - factor * self.lambdas[:, None, :] * self.risk)

    @cached_property
    def counts(self) -> NDArray[Any]:
        """The bootstrap's resamples of prompts, (B, P)."""
        return draw_counts(len(self.ratings.prompt_ids), self.settings.draws, self.settings.seed)

    def only(self, places: Sequence[int]) -> "Contest":
        """The contest of some methods; the first place should be Best-of-K's."""
        names = ("choice", "reward", "risk", "outcome", "pairwise", "rewards")
        arrays = {name: getattr(self, name)[:, list(places)] for name in names}
        return replace(self, methods=[self.methods[a] for a in places], **arrays)

    def against(self, values: Array) -> Array:
        """Win, tie or loss against Best-of-K by values (R, A, P)."""
        difference, scale = values - values[:, :1], largest(values)
        return metrics.outcome_signs(difference, self.settings.threshold, scale)

    @property
    def subsets(self) -> dict[str, Mask]:
        """All kept prompts, and the high-variance ones where there are any, (R, P) by name."""
        result = {"overall": self.usable}
        if self.high.any():
            result["high-variance"] = self.high
        return result


def compare_rules(source: Ratings, settings: ContestSettings) -> Contest:
    """The contest of a source split into halves; raises `InputError` where nothing can be held out.

    O(R) passes over the samples a method.
    """
    split = source.split_unit(settings.split)
    return contest_of(source, Splits(source, settings), settings, settings.methods, split)


@dataclass(frozen=True)
class Splits:
    """The halves of each split of the settings, drawn one at a time whenever they are gone over."""

    ratings: Ratings
    settings: ContestSettings

    def __iter__(self) -> Iterator[Halves]:
        split = self.ratings.split_unit(self.settings.split)
        for repeat in range(self.settings.repeats):
            yield self.ratings.halves(split, self.settings.seed + repeat)


def contest_of(
    source: Ratings,
    halves: Iterable[Halves],
    settings: ContestSettings,
    specs: Sequence[Method],
    split: str,
    lambdas: Array | None = None,
) -> Contest:
    """The contest of given halves; the source names prompts, side inputs, lengths and bounds.

    The halves are looked at one after the other, and a few numbers a prompt and method are kept of
    each. `lambdas` (R, P) are those of other halves than these, such as larger ones.
    """
    not_run: dict[str, str] = {}
    parts: list[dict[str, Any]] = []
    labels: list[list[str]] = []
    flags: dict[str, Counter[str]] = {spec.text: Counter() for spec in specs}
    seconds = Counter[str]()
    left_out = 0
    specs = with_normalization(specs, source, settings.normalize)
    none = np.full(len(source.prompt_ids), -1, dtype=np.int64)
    for repeat, half in enumerate(halves):
        decided = decide_halves(specs, half, source, settings.seed + repeat)
        not_run |= decided.failures
        if BASELINE in not_run:
            raise InputError(f"{source.name}: Best-of-K failed: {not_run[BASELINE]}")
        specs = [spec for spec in specs if spec.text not in not_run]
        labels.append([spec.text for spec in specs])
        choice = np.stack([decided.index.get(label, none) for label in labels[-1]])
        own = lambda_row(source, settings, half, split) if lambdas is None else lambdas[repeat]
        parts.append({**_judged(settings, half, choice), "lambdas": own})
        for label, raised in decided.flags.items():
            flags[label].update(raised)
        seconds.update(decided.seconds)
        left_out += half.left_out
    alone: dict[str, Any] = {
        name: np.stack([part.pop(name) for part in parts]) for name in OF_SPLITS
    }
    if not alone["usable"].any():
        raise InputError(
            f"{source.name}: no candidate has samples for both selecting and judging",
            "rate each candidate at least twice",
        )
    alone["lambdas"] = settled_lambdas(source, alone["lambdas"], split)
    # A method that failed in some split is in none.
    places = [[own.index(label) for label in labels[-1]] for own in labels]
    by_method: dict[str, Any] = {
        name: np.stack([part.pop(name)[own] for part, own in zip(parts, places, strict=True)])
        for name in list(parts[0])
    }
    if settings.outcome == "mean":
        by_method["outcome"] = by_method["reward"]
    ids, share, decided_on = list(source.prompt_ids), settings.share, alone["usable"].sum()
    pairs = zip(alone["disagreement"], alone["usable"], strict=True)
    high = [metrics.high_subset(*pair, ids, share) for pair in pairs]
    # What is missing is no sample, and is not moved.
    moved = np.abs(clipped(source.samples, source.bounds) - source.samples) > 0
    return Contest(
        ratings=source,
        settings=settings,
        split=split,
        methods=labels[-1],
        high=np.stack(high),
        not_run=not_run,
        flags={m: {f: n / decided_on for f, n in flags[m].items()} for m in labels[-1]},
        seconds={label: seconds[label] for label in labels[-1]},
        left_out=left_out / len(parts),
        clipped_share=float(moved.sum() / max(1, (~np.isnan(source.samples)).sum())),
        **alone,
        **by_method,
    )


OF_SPLITS = ("usable", "lambdas", "scales", "disagreement", "judged_disagreement")


def _judged(settings: ContestSettings, halves: Halves, choice: Integers) -> dict[str, Any]:
    """The numbers of one split, (A, P) unless said otherwise, from its choices (A, P)."""
    at, seen = metrics.aggregated(halves.judge.samples), metrics.aggregated(halves.select.samples)
    means, base = risk.mean(halves.judge.samples).swapaxes(0, 1), choice[0]
    spread = metrics.taken(seen.sigma, base)
    if settings.subset == "pool":
        spread = np.where(halves.usable, np.fmax.reduce(seen.sigma, axis=1), np.nan)
    found = {
        "usable": halves.usable,
        "choice": choice.astype(np.int32),
        "reward": metrics.taken(at.mean, choice),
        "risk": metrics.taken((at if settings.sigma == "evaluation" else seen).sigma, choice),
        "pairwise": metrics.pairwise_scores(
            halves.judge.samples, halves.judge.raters, choice, base
        ),
        "rewards": np.stack([metrics.taken(m, choice) for m in means], axis=1),
        "scales": metrics.pooled_units(halves.judge.samples)[1],
        "disagreement": spread,
        "judged_disagreement": metrics.taken(at.sigma, base),
    }
    if settings.outcome == "lcb":
        sizes = (at.count > 0).sum(axis=1).astype(np.float64)
        found["outcome"] = metrics.taken(metrics.lower_bound(at, sizes), choice)
    return found


def lambda_row(source: Ratings, settings: ContestSettings, half: Halves, split: str) -> Array:
    """Lambda for every prompt of one split, (P,); by median matching from what is not judged there.

    The split's own selecting half gives it. Where a proxy selects, on a scale of its own, each half
    of the prompts takes it from the ratings of the other half.
    """
    row = np.full(len(source.prompt_ids), np.nan)
    if settings.lam is not None:
        row[:] = settings.lam
    elif split == "joined":
        fold = folds(prompt_seeds(settings.seed, [f"lambda {p}" for p in source.prompt_ids]), 2)
        at = metrics.aggregated(half.judge.samples)
        for own in (0, 1):
            row[fold == own] = metrics.matched_lambda(at.mean[fold != own], at.sigma[fold != own])
    else:
        at = metrics.aggregated(half.select.samples)
        row[:] = metrics.matched_lambda(at.mean, at.sigma)
    return row


def settled_lambdas(source: Ratings, result: Array, split: str) -> Array:
    """Lambda for every split and prompt, (R, P); a split without a sigma takes the others' mean."""
    if split != "joined" and not np.isnan(result).all():
        result = np.where(np.isnan(result), np.nanmean(result), result)
    if np.isnan(result).any():
        raise InputError(
            f"{source.name}: no lambda matches the medians: sigma is 0 or unknown where it is "
            "looked for",
            "give --lambda a number",
        )
    return result
