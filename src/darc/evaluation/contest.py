"""Every method judged on every split of one source."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import Field

from darc.config import Model
from darc.core.draws import folds, prompt_seeds
from darc.engine.deciding import Calibrations, RuleSpec
from darc.errors import InputError
from darc.evaluation import metrics
from darc.evaluation.bootstrap import draw_counts
from darc.evaluation.methods import BASELINE, Decided, decide_all, methods, normalization, runnable
from darc.evaluation.source import Source
from darc.evaluation.split import Halves, choose_split, draw_halves
from darc.types import clipped
from darc.typing import Array, Integers, Mask

Report = Callable[[int, int | None], None]


def _option(default: Any, text: str = "", metavar: str = "", **limits: Any) -> Any:
    """A setting with what `darc eval --help` says of it."""
    extra: dict[str, Any] = {"metavar": metavar} if metavar else {}
    return Field(default=default, description=text, json_schema_extra=extra, **limits)


class ContestSettings(Model):
    """How an evaluation is made.

    `rules` empty means all; `lam` weighs sigma in the tradeoff, None for median matching. `share`
    and `subset` define the high-variance prompts, `tail` and `outcome` the CVaR over prompts. Rules
    that learn go by the `calibrations`, or else learn from each split's selecting half alone.
    """

    rules: tuple[str, ...] = ()
    lam: float | None = 2.0
    share: float = Field(default=0.2, gt=0, le=1)
    tail: float = Field(default=0.1, gt=0, le=1)
    calibrations: Calibrations | None = None
    beta: float = _option(1.0, "risk aversion")
    gamma: float = _option(1.0, "hedge over scorers")
    normalize: Literal["auto", "prompt", "fixed", "none"] = _option(
        "auto", "scale of the scorers in selection, auto: within the prompt if there are several"
    )
    split: Literal["auto", "rater", "sample"] = _option(
        "auto", "what is split into halves, auto: raters where the same ones come back"
    )
    repeats: int = _option(20, "splits", "R", ge=1, le=10_000)
    sigma: Literal["evaluation", "selection"] = _option(
        "evaluation", "the half that risk is measured on"
    )
    subset: Literal["baseline", "pool"] = _option(
        "baseline", "high-variance prompts by Best-of-K's choice, or by the pool's largest sigma"
    )
    outcome: Literal["mean", "lcb"] = _option("mean", "what CVaR over prompts is of")
    threshold: float = _option(0.0, "smaller differences are ties")
    draws: int = _option(2000, "bootstrap draws", "N", ge=1, le=1_000_000)
    seed: int = _option(0, "seed of splits and draws")

    def model_post_init(self, context: object) -> None:
        """Refuse calibrations that no rule takes."""
        if self.calibrations is not None:
            methods(self.rules, calibrations=self.calibrations)

    @property
    def methods(self) -> list[RuleSpec]:
        """The rules, Best-of-K first."""
        return methods(self.rules, self.beta, self.gamma, self.calibrations)

    @property
    def tail_name(self) -> str:
        """What the CVaR over prompts is called."""
        return f"cvar_{round(100 * self.tail)}"


@dataclass(frozen=True, eq=False)
class Contest:
    """What R splits say of A methods on P prompts; the first method is Best-of-K.

    `choice`, `reward`, `risk`, `length`, `outcome` (what the CVaR is of) and `pairwise` are
    (R, A, P), NaN (-1 for `choice`) where a prompt is not kept in a split; `rewards`
    (R, A, M, P) are per scorer on its raw scale. `lambdas` (R, P) weigh sigma: one number, or by
    median matching that of each split's selecting half. `kept`, `high` (the high-variance subset)
    and `disagreement` (of the baseline's choice, on the selection half; `judged_disagreement` on
    the half that judges) are (R, P). `scales` (R, M)
    are the scorers' pooled deviations on the half that judges. `not_run` has a reason for each
    method left out.
    """

    source: Source
    settings: ContestSettings
    split: str
    methods: list[str]
    choice: Integers
    reward: Array
    risk: Array
    length: Array
    outcome: Array
    pairwise: Array
    rewards: Array
    scales: Array
    kept: Mask
    high: Mask
    disagreement: Array
    judged_disagreement: Array
    lambdas: Array
    not_run: dict[str, str] = field(default_factory=dict)
    flags: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: float = 0.0
    clipped_share: float = 0.0

    @cached_property
    def tradeoff(self) -> Array:
        """The tradeoff reward - lambda risk, (R, A, P)."""
        return self.weighed()

    @property
    def lam(self) -> float:
        """The lambda used, the mean where it differs between splits."""
        return float(self.lambdas.mean())

    def weighed(self, factor: float = 1.0) -> Array:
        """The tradeoff at a multiple of lambda, (R, A, P)."""
        return np.asarray(self.reward - factor * self.lambdas[:, None, :] * self.risk)

    @cached_property
    def counts(self) -> Array:
        """The bootstrap's resamples of prompts, (B, P)."""
        return draw_counts(len(self.source.prompt_ids), self.settings.draws, self.settings.seed)

    @cached_property
    def signs(self) -> Array:
        """Win, tie or loss against Best-of-K by reward, (R, A, P)."""
        return self.against(self.reward)

    def only(self, places: Sequence[int]) -> "Contest":
        """The contest of some methods; the first place should be Best-of-K's."""
        names = ("choice", "reward", "risk", "length", "outcome", "pairwise", "rewards")
        arrays = {name: getattr(self, name)[:, list(places)] for name in names}
        return replace(self, methods=[self.methods[a] for a in places], **arrays)

    def against(self, values: Array) -> Array:
        """Win, tie or loss against Best-of-K by values (R, A, P)."""
        scale = float(np.nanmax(np.abs(values), initial=0.0))
        return metrics.outcome_signs(values - values[:, :1], self.settings.threshold, scale)

    @property
    def subsets(self) -> dict[str, Mask]:
        """All kept prompts, and the high-variance ones where there are any, (R, P) by name."""
        result = {"overall": self.kept}
        if self.high.any():
            result["high-variance"] = self.high
        return result


def compare_rules(source: Source, settings: ContestSettings) -> Contest:
    """The contest of a source split into halves; raises `InputError` where nothing can be held out.

    O(R) passes over the samples a method.
    """
    split = choose_split(source, settings.split)
    halves = halves_of_seeds(source, settings)
    return contest_of(source, halves, settings, settings.methods, split)


def halves_of_seeds(source: Source, settings: ContestSettings) -> Iterator[Halves]:
    """The halves of each split of the settings."""
    split = choose_split(source, settings.split)
    for repeat in range(settings.repeats):
        yield draw_halves(source, split, settings.seed + repeat)


def contest_of(
    source: Source,
    halves: Iterable[Halves],
    settings: ContestSettings,
    specs: Sequence[RuleSpec],
    split: str,
    lambdas: Array | None = None,
) -> Contest:
    """The contest of given halves; the source names prompts, side inputs, lengths and bounds.

    `lambdas` (R, P) are those of other halves than these, such as larger ones.
    """
    able, not_run = runnable(specs, source.side)
    made: list[Halves] = []
    decided: list[Decided] = []
    normalize = normalization(source, settings.normalize)
    for repeat, half in enumerate(halves):
        verdict = decide_all(able, half, source, settings.seed + repeat, normalize)
        not_run |= verdict.failures
        able = [spec for spec in able if spec.label not in not_run]
        made.append(half)
        decided.append(verdict)
    kept = np.stack([half.kept for half in made])
    if not kept.any():
        raise InputError(
            f"{source.name}: no candidate has samples for both selecting and judging",
            "rate each candidate at least twice",
        )
    if BASELINE in not_run:
        raise InputError(f"{source.name}: Best-of-K failed: {not_run[BASELINE]}")
    labels = [spec.label for spec in able]
    none = np.full(len(source.prompt_ids), -1, dtype=np.int64)
    choice = np.stack([np.stack([d.index.get(label, none) for label in labels]) for d in decided])
    parts = [_judged(source, settings, *each) for each in zip(made, choice, strict=True)]
    names = ("reward", "risk", "length", "outcome", "pairwise", "rewards", "scales")
    arrays = {name: np.stack([part[name] for part in parts]) for name in names}
    disagreement = np.stack([part["disagreement"] for part in parts])
    high = [
        metrics.high_subset(one, keep, list(source.prompt_ids), settings.share)
        for one, keep in zip(disagreement, kept, strict=True)
    ]
    return Contest(
        source=source,
        settings=settings,
        split=split,
        methods=labels,
        choice=choice,
        kept=kept,
        high=np.stack(high),
        disagreement=disagreement,
        judged_disagreement=np.stack([part["judged_disagreement"] for part in parts]),
        lambdas=lambdas_of(source, settings, made, split) if lambdas is None else lambdas,
        not_run=not_run,
        flags=_flag_shares(decided, labels, int(kept.sum())),
        seconds={label: sum(d.seconds.get(label, 0.0) for d in decided) for label in labels},
        left_out=float(np.mean([half.left_out for half in made])),
        clipped_share=_clipped_share(source),
        **arrays,
    )


def _judged(
    source: Source, settings: ContestSettings, halves: Halves, choice: Integers
) -> dict[str, Array]:
    """The numbers of one split, (A, P) unless said otherwise, from its choices (A, P)."""
    each = metrics.moments(halves.judge)
    at = metrics.aggregated(halves.judge)
    seen = metrics.aggregated(halves.select)
    base = choice[0]
    spread = metrics.taken(seen.sigma, base)
    if settings.subset == "pool":
        spread = np.where(halves.kept, np.fmax.reduce(seen.sigma, axis=1), np.nan)
    reward = metrics.taken(at.mean, choice)
    sizes = (at.count > 0).sum(axis=1).astype(np.float64)
    bound = (
        metrics.taken(metrics.lower_bound(at, sizes), choice)
        if settings.outcome == "lcb"
        else reward
    )
    scorers = range(halves.judge.shape[1])
    return {
        "reward": reward,
        "risk": metrics.taken((at if settings.sigma == "evaluation" else seen).sigma, choice),
        "length": metrics.taken(source.tokens, choice),
        "outcome": bound,
        "pairwise": metrics.pairwise_scores(halves.judge, halves.givers, choice, base),
        "rewards": np.stack([metrics.taken(each.mean[:, m], choice) for m in scorers], axis=1),
        "scales": metrics.pooled_units(halves.judge)[1],
        "disagreement": spread,
        "judged_disagreement": metrics.taken(at.sigma, base),
    }


def lambdas_of(
    source: Source, settings: ContestSettings, halves: Sequence[Halves], split: str
) -> Array:
    """Lambda for every split and prompt, (R, P); by median matching from what is not judged there.

    A split's own selecting half gives it, or the other splits' where that half knows no sigma.
    Where a proxy selects, on a scale of its own, each half of the prompts takes it from the ratings
    of the other half.
    """
    result = np.full((len(halves), len(source.prompt_ids)), np.nan)
    if settings.lam is not None:
        result[:] = settings.lam
    elif split == "joined":
        names = [f"lambda {name}" for name in source.prompt_ids]
        fold = folds(prompt_seeds(settings.seed, names), 2)
        for row, half in zip(result, halves, strict=True):
            at = metrics.aggregated(half.judge)
            for own in (0, 1):
                row[fold == own] = metrics.matched_lambda(
                    at.mean[fold != own], at.sigma[fold != own]
                )
    else:
        for row, half in zip(result, halves, strict=True):
            at = metrics.aggregated(half.select)
            row[:] = metrics.matched_lambda(at.mean, at.sigma)
        if not np.isnan(result).all():
            result = np.where(np.isnan(result), np.nanmean(result), result)
    if np.isnan(result).any():
        raise InputError(
            f"{source.name}: no lambda matches the medians: sigma is 0 or unknown where it is "
            "looked for",
            "give --lambda a number",
        )
    return result


def _flag_shares(
    decided: Sequence[Decided], labels: Sequence[str], total: int
) -> dict[str, dict[str, float]]:
    """The share of decisions that each method flagged, by the flag's name."""
    result: dict[str, dict[str, float]] = {}
    for label in labels:
        shares: dict[str, float] = {}
        for verdict in decided:
            for name, times in verdict.flags.get(label, {}).items():
                shares[name] = shares.get(name, 0.0) + times / total
        result[label] = shares
    return result


def _clipped_share(source: Source) -> float:
    there = ~np.isnan(source.samples)
    moved = clipped(source.samples, source.bounds) != source.samples
    return float((moved & there).sum() / max(1, there.sum()))
