"""Which answers to hold back so that a promise about bad answers is kept."""

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.analysis.calibrating import calibrate_ratings
from darc.decide.caution import MEDIUM, Caution, parse_caution
from darc.decide.evidence.guarantee import (
    DEFAULT_DELTA,
    least_held_share,
    overall_threshold,
    shown_threshold,
)
from darc.decide.evidence.promise import Promise, PromiseKind, batch_threshold
from darc.decide.evidence.winner import winner_score
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY, pack_left
from darc.typing import Array, Mask

# A generator of its own, so that no other draw with the same seed follows who is held out.
_STREAM = 0x415C
_RISK = re.compile(r"\s*rating\s*(<=?)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
# With fewer prompts no share can be told from chance.
FEWEST_PROMPTS = 20


@dataclass(frozen=True)
class Risk:
    """What a rater says of a bad answer, such as "rating < 4"."""

    limit: float
    #: Whether a rating at the limit is bad, too.
    includes_limit: bool = False

    @classmethod
    def parse(cls, text: str) -> "Risk":
        """Read a text such as "rating < 4" or "rating <= 3".

        Raises:
            InputError: If it is something else.
        """
        match = _RISK.fullmatch(text)
        if match is None:
            raise InputError(
                f"the risk {text!r} is not a limit on ratings", 'write it as "rating < 4"'
            )
        return cls(float(match[2]), match[1] == "<=")

    def __str__(self) -> str:
        comparison = "<="
        if not self.includes_limit:
            comparison = "<"
        return f"rating {comparison} {self.limit:g}"

    def is_bad(self, ratings: Array) -> Mask:
        """Which ratings are bad."""
        if self.includes_limit:
            return np.asarray(ratings <= self.limit)
        return np.asarray(ratings < self.limit)


@dataclass(frozen=True, eq=False)
class JudgedChoices:
    """Choices by some raters, with the verdict of one other rater on each, (P,) each."""

    #: The lower end of the winner's expected mean.
    score: Array
    #: 1 where the other rater finds the chosen answer bad, else 0.
    is_bad: Array
    #: The calibration that chose.
    calibrations: Calibrations
    #: Prompts whose chosen answer no other rater had rated.
    left_out: int
    #: How many ratings an answer had, on average.
    ratings_per_answer: float


@dataclass(frozen=True, eq=False)
class RiskTuning:
    """Whether a promise about bad answers is possible, and what it takes."""

    #: What reports call the ratings.
    name: str
    kind: PromiseKind
    risk: Risk
    level: float
    choices: JudgedChoices
    #: The promise, None where no answer could be shown.
    promise: Promise | None

    @property
    def prompts(self) -> int:
        """How many prompts were judged."""
        return len(self.choices.score)

    @property
    def base_risk(self) -> float:
        """The share of prompts with a bad answer where every answer is shown."""
        return float(self.choices.is_bad.mean())

    @property
    def least_held(self) -> float:
        """The share of prompts that any method must hold back."""
        return least_held_share(self.choices.is_bad, self.level)

    @property
    def calibrations(self) -> Calibrations:
        """The calibration with the promise, for `darc select`, `run` and `serve`.

        Raises:
            InputError: If no answer could be shown.
        """
        if self.promise is None:
            raise InputError(
                "the promise cannot be kept by showing any answer",
                "ask for a higher level, or calibrate on more prompts",
            )
        return with_promise(self.choices.calibrations, self.promise)

    def sentences(self) -> list[str]:
        """Whether it is possible, what it takes, and what it assumes."""
        return [*self._possible(), *self._kept(), self._assumption()]

    def as_json(self) -> dict[str, Any]:
        """Everything that the sentences say."""
        promise = None
        if self.promise is not None:
            promise = {
                "threshold": self.promise.threshold,
                "coverage": self.promise.coverage,
                "words": self.promise.in_words(),
            }
        low, high = share_interval(self.base_risk, self.prompts)
        return {
            "source": self.name,
            "risk": str(self.risk),
            "level": self.level,
            "kind": self.kind,
            "prompts": self.prompts,
            "left_out": self.choices.left_out,
            "ratings_per_answer": self.choices.ratings_per_answer,
            "base_risk": self.base_risk,
            "base_risk_interval": [low, high],
            "least_held": self.least_held,
            "possible": self.promise is not None,
            "promise": promise,
            "sentences": self.sentences(),
        }

    def _possible(self) -> list[str]:
        low, high = share_interval(self.base_risk, self.prompts)
        level = f"{100 * self.level:.3g} %"
        base = (
            f"If every answer is shown, another rater finds {self.base_risk:.1%} of them bad "
            f"({self.risk}; {low:.1%} to {high:.1%}, {self.prompts} prompts)."
        )
        needed = f"That is no more than {level} already."
        if self.base_risk > self.level:
            needed = (
                f"For {level}, at least {self.least_held:.1%} of the answers must be held back, "
                "whatever the method."
            )
        return [base, needed]

    def _kept(self) -> list[str]:
        if self.promise is None:
            return [f"Not possible here: {self._obstacle()}."]
        low, high = share_interval(self.promise.coverage, self.prompts)
        condition = (
            "Possible: an answer is shown if the average that it would have with many more raters "
            f"is at least {self.promise.threshold:.3g} (lower end of about 90 %)."
        )
        return [
            condition,
            f"That shows {self.promise.coverage:.0%} of the answers ({low:.0%} to {high:.0%}).",
            f"Promise: {self.promise.in_words()}",
        ]

    def _obstacle(self) -> str:
        """Why no answer can be shown."""
        fewest = math.ceil(1 / self.level) - 1
        advice = "more ratings per answer"
        if self.kind == "shown":
            fewest = math.ceil(math.log(2 / DEFAULT_DELTA) / -math.log1p(-self.level))
            advice += ", or --promise batch, which takes fewer prompts"
        if self.prompts < fewest:
            return f"it takes {fewest} prompts or more, and there are {self.prompts}"
        return (
            "even the answers that look best are bad too often, or too rarely good to be sure of "
            f"it with {self.prompts} prompts; what helps is a higher level, more prompts, {advice}"
        )

    def _assumption(self) -> str:
        return (
            f"It holds for prompts, raters and models like those of {self.name}, with about "
            f"{self.choices.ratings_per_answer:.2g} ratings per answer and the same caution. "
            "Another model, other raters or other prompts void it: then tune again."
        )


def tune_risk(
    ratings: Ratings,
    risk: str,
    level: float = 0.1,
    kind: PromiseKind = "batch",
    *,
    calibrations: Calibrations | None = None,
    caution: Caution = MEDIUM,
    split: str = "auto",
    seed: int = 0,
) -> RiskTuning:
    """Find which answers to show so that a promise about bad answers is kept.

    Each prompt is decided without one of its raters, who then judges the choice.

    Args:
        ratings: The ratings.
        risk: What a rater says of a bad answer, such as "rating < 4".
        level: The largest share of bad answers.
        kind: What is promised, see `Promise`.
        calibrations: What the rule goes by. Without it, it learns from the ratings that select.
        caution: The caution of the rule.
        split: "rater", "sample", or "auto" for raters where they return over prompts.
        seed: Seed of who judges.

    Raises:
        InputError: If the ratings are not of one scorer by raters, the risk is not a limit, or
            fewer than `FEWEST_PROMPTS` choices can be judged.
    """
    limit = Risk.parse(risk)
    if not 0 < level < 1:
        raise InputError(f"the level {level:g} is not between 0 and 1", "write for example 0.1")
    choices = judged_choices(
        ratings, limit, calibrations=calibrations, caution=caution, split=split, seed=seed
    )
    if len(choices.score) < FEWEST_PROMPTS:
        raise InputError(
            f"{ratings.name} has {len(choices.score)} prompts whose choice another rater judges",
            f"give at least {FEWEST_PROMPTS}, with two ratings of each answer or more",
        )
    score = choices.score
    is_bad = choices.is_bad
    match kind:
        case "batch":
            threshold = batch_threshold(score, is_bad, level)
        case "overall":
            threshold = overall_threshold(score, is_bad, level)
        case "shown":
            threshold = shown_threshold(score, is_bad, level)
    promise = None
    if threshold < math.inf:
        promise = Promise(
            kind=kind,
            risk=str(limit),
            level=level,
            threshold=threshold,
            caution=parse_caution(caution),
            prompts=len(score),
            ratings_per_answer=choices.ratings_per_answer,
            coverage=float((score >= threshold).mean()),
        )
        if kind == "batch":
            promise = replace(
                promise,
                good_scores=tuple(score[is_bad == 0].tolist()),
                bad_scores=tuple(score[is_bad > 0].tolist()),
            )
    return RiskTuning(ratings.name, kind, limit, level, choices, promise)


def judged_choices(
    ratings: Ratings,
    risk: Risk,
    *,
    calibrations: Calibrations | None = None,
    caution: Caution = MEDIUM,
    split: str = "auto",
    seed: int = 0,
) -> JudgedChoices:
    """Choose for each prompt without one of its raters, and let that rater judge the choice.

    Raises:
        InputError: If the ratings are not of one scorer by raters.
    """
    if not ratings.has_raters:
        raise InputError(
            f"{ratings.name} has scores of rewrites, which say nothing of bad answers",
            "give people's ratings, or a run with a panel",
        )
    if len(ratings.scorers) > 1:
        raise InputError(
            f"{ratings.name} has {len(ratings.scorers)} scorers", "give the ratings of one"
        )
    unit = ratings.split_unit(split)
    held_out = _held_out(ratings, unit, seed)
    if split == "auto" and _judged_share(ratings, held_out) < 0.5:
        # Raters who rate a few answers per prompt would not have rated the choice.
        held_out = _held_out(ratings, "sample", seed)
    is_selecting = ratings.present & ~held_out
    # Who rated a candidate twice judges it once.
    is_judging = held_out & (np.cumsum(held_out, axis=3) == 1)
    samples, raters = pack_left(ratings.samples, ratings.raters, is_selecting)
    selecting = replace(ratings, samples=samples, raters=raters)
    if calibrations is None:
        calibrations = calibrate_ratings(selecting)
    method = Method.parse("auto", {"caution": caution}, calibrations=calibrations)
    prompts = np.flatnonzero(is_selecting.any(axis=(1, 2, 3)))
    decisions = method.decide_batch(selecting.sample_batch(prompts))
    score = winner_score(decisions.pools, decisions.choice, decisions.rule)
    verdicts = np.where(is_judging, ratings.samples, np.nan)[prompts, 0]
    verdicts = verdicts[np.arange(len(prompts)), decisions.index]
    is_judged = ~np.isnan(verdicts)
    row, place = np.nonzero(is_judged)
    # A candidate has one judging rating at most, so there is one place per prompt.
    count = (~np.isnan(samples)).sum(axis=3)
    return JudgedChoices(
        score=score[row],
        is_bad=risk.is_bad(verdicts[row, place]).astype(np.float64),
        calibrations=calibrations,
        left_out=len(ratings.prompt_ids) - len(row),
        ratings_per_answer=float(count[count > 0].mean()),
    )


def with_promise(calibrations: Calibrations, promise: Promise) -> Calibrations:
    """The same calibrations with a promise."""
    by_scorer = {
        name: replace(calibration, promise=promise)
        for name, calibration in calibrations.by_scorer.items()
    }
    return Calibrations(by_scorer, calibrations.notes)


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `count`."""
    z_squared = 1.96**2
    centre = (share + z_squared / (2 * count)) / (1 + z_squared / count)
    variance = share * (1 - share) / count + z_squared / (4 * count**2)
    reach = 1.96 * math.sqrt(variance) / (1 + z_squared / count)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def _held_out(ratings: Ratings, unit: str, seed: int) -> Mask:
    """The ratings that do not select, (P, 1, K, n).

    By raters they are those of one rater per prompt, drawn among those who rated most of its
    candidates. By samples it is one rating of each candidate that has several.
    """
    generator = np.random.default_rng([seed, _STREAM])
    present = ratings.present
    held_out = np.zeros(present.shape, dtype=bool)
    if unit == "sample":
        keys = np.where(present, generator.random(present.shape), -1.0)
        np.put_along_axis(held_out, keys.argmax(axis=3, keepdims=True), True, axis=3)
        return np.asarray(held_out & (present.sum(axis=3, keepdims=True) > 1))
    for prompt, raters in enumerate(ratings.raters):
        names, counts = np.unique(raters[raters != NOBODY], return_counts=True)
        if len(names):
            judge = generator.choice(names[counts == counts.max()])
            held_out[prompt] = raters == judge
    return held_out


def _judged_share(ratings: Ratings, held_out: Mask) -> float:
    """The share of candidates that have a rating that judges."""
    is_rated = np.any(ratings.present, axis=3)
    has_judge = np.any(held_out, axis=3)
    return float((has_judge & is_rated).sum() / max(int(is_rated.sum()), 1))
