"""How careful annotators are, and how far they agree; functions of rows of tasks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np

from darc.decide.statistics.agreement import alpha_interval, krippendorff_alpha
from darc.study.schema import passed, side_of
from darc.study.settings import QualitySettings

Row = Mapping[Any, Any]

_ROUNDING = 1e-9
# With fewer answers than this, speed and sameness say nothing, whatever chance says.
_MIN_ANSWERS = 3
_RESAMPLES = 1000
# With fewer items that two people rated, alpha and its interval say nothing.
_MIN_UNITS = 5


@dataclass(frozen=True)
class Care:
    """How careful an annotator is."""

    #: How many attention checks they answered, and how many of those they failed.
    attention: int
    attention_failed: int
    #: The same of gold items.
    gold: int
    gold_failed: int
    #: The same of calibration items.
    calibration: int
    calibration_failed: int
    #: How many items they rated.
    items: int
    #: How many tasks they skipped.
    skipped: int
    #: The median time for an item; NaN if there is none.
    median_seconds: float
    #: What the lead should look at.
    flags: tuple[str, ...]
    #: Why they should be excluded, or "".
    exclude: str


class _CheckCounts(NamedTuple):
    """How many checks of one kind were answered, and how many of those were failed."""

    answered: int
    failed: int


def care(answers: Sequence[Row], settings: QualitySettings, calibration_share: float = 0.5) -> Care:
    """Judge the care of one annotator.

    Args:
        answers: The answered tasks of the annotator, as `schema.whole_tasks` returns them.
        settings: When an annotator is flagged and excluded.
        calibration_share: The share of calibration items that may be failed without a flag.

    Returns:
        The counts, the flags and the reason for an exclusion.
    """
    given_answers = [row for row in answers if row["answer"] is not None]
    items = [row for row in given_answers if row["kind"] == "item"]
    skipped = len(answers) - len(given_answers)
    attention = _count_checks(given_answers, "attention")
    gold = _count_checks(given_answers, "gold")
    calibration = _count_checks(given_answers, "calibration")
    seconds = [row["milliseconds"] / 1000 for row in items]

    flags = []
    if _is_too_fast(seconds, settings):
        flags.append("too fast")
    if len(items) >= _MIN_ANSWERS and _is_near_constant(items, settings):
        flags.append("near-constant")
    if skipped >= _MIN_ANSWERS and skipped > len(items):
        flags.append("skips most")
    if _fails_too_often(attention, settings.careful_errors, settings):
        flags.append("attention checks")
    if _fails_too_often(gold, settings.gold_share, settings):
        flags.append("gold checks")
    if calibration.answered and calibration.failed / calibration.answered > calibration_share:
        flags.append("calibration")

    exclude = _exclusion_reason(attention, gold, settings)
    if exclude and not settings.automatic and f"{exclude} checks" not in flags:
        flags.append(f"{exclude} checks")
    return Care(
        attention=attention.answered,
        attention_failed=attention.failed,
        gold=gold.answered,
        gold_failed=gold.failed,
        calibration=calibration.answered,
        calibration_failed=calibration.failed,
        items=len(items),
        skipped=skipped,
        median_seconds=float(np.median(seconds)) if seconds else float("nan"),
        flags=tuple(flags),
        exclude=exclude,
    )


def _count_checks(answers: Sequence[Row], kind: str) -> _CheckCounts:
    checks = [row for row in answers if row["kind"] == kind]
    passes = [passed(row["answer"], row["reference"], row["tolerance"]) for row in checks]
    return _CheckCounts(len(checks), len(checks) - sum(passes))


def _is_too_fast(seconds: Sequence[float], settings: QualitySettings) -> bool:
    """Whether more answers were fast than a careful person's would be."""
    fast = sum(duration < settings.fast_seconds for duration in seconds)
    if len(seconds) < _MIN_ANSWERS or fast / len(seconds) <= settings.fast_share:
        return False
    if len(seconds) >= settings.flag_minimum:
        return True
    chance = tail(fast, len(seconds), settings.careful_errors)
    return chance <= settings.flag_chance + _ROUNDING


def _is_near_constant(items: Sequence[Row], settings: QualitySettings) -> bool:
    """Whether the answers hardly differ, and are so many that a fair coin would seldom do so."""
    sides = [side_of(row["answer"], row["flipped"]) for row in items if row["second_id"]]
    answers = [row["answer"] for row in items]
    most_common = max(Counter(sides or answers).values())
    if sides:
        is_same = most_common / len(sides) > settings.one_side
    else:
        is_same = float(np.std(answers)) < settings.constant_deviation
    if not is_same:
        return False
    if len(items) >= settings.flag_minimum:
        return True
    return 2 * tail(most_common, len(items), 0.5) <= settings.flag_chance


def _fails_too_often(checks: _CheckCounts, rate: float, settings: QualitySettings) -> bool:
    """Whether somebody who errs at this rate would seldom fail as many checks."""
    if not checks.failed:
        return False
    return tail(checks.failed, checks.answered, rate) <= settings.flag_chance + _ROUNDING


def _exclusion_reason(
    attention: _CheckCounts, gold: _CheckCounts, settings: QualitySettings
) -> str:
    if attention.failed > settings.attention_failures:
        return "attention"
    if gold.answered < settings.gold_minimum:
        return ""
    if gold.answered and gold.failed / gold.answered > settings.gold_share + _ROUNDING:
        return "gold"
    return ""


def tail(count: int, trials: int, rate: float) -> float:
    """The upper tail of the binomial distribution.

    Args:
        count: The least number of events.
        trials: The number of trials.
        rate: The probability of an event in a trial.

    Returns:
        The probability of `count` or more events.
    """
    if not count or rate >= 1:
        return 1.0
    if rate <= 0:
        return 0.0
    log_odds = log(rate) - log(1 - rate)
    constant = lgamma(trials + 1) + trials * log(1 - rate)
    terms = [
        exp(constant + (k * log_odds - lgamma(k + 1) - lgamma(trials - k + 1)))
        for k in range(count, trials + 1)
    ]
    return min(1.0, sum(terms))


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with its bootstrap interval; NaN if there are too few ratings."""

    alpha: float
    low: float
    high: float
    #: How many ratings there are.
    ratings: int
    #: How many units have at least two ratings.
    units: int

    @property
    def is_known(self) -> bool:
        """Whether there is an alpha."""
        return not np.isnan(self.alpha)

    @property
    def words(self) -> str:
        """Alpha and its interval, or why there is none."""
        if self.units < _MIN_UNITS:
            return f"not yet ({self.units} of {_MIN_UNITS} items rated twice)"
        if not self.is_known:
            return "undefined: all ratings are the same"
        if self.high - self.low < _ROUNDING:
            return f"{self.alpha:.2f}"
        return f"{self.alpha:.2f} ({self.low:.2f} to {self.high:.2f})"


def agreement(ratings: Sequence[Row], pairwise: bool, seed: int = 0) -> tuple[Alpha, Alpha]:
    """Measure how far annotators agree.

    Args:
        ratings: The rated items, with valid and invalid ratings.
        pairwise: Whether answers are winners, which are compared as categories.
        seed: The seed of the bootstrap.

    Returns:
        Alpha of all ratings, and of the valid ones.
    """
    level = "nominal" if pairwise else "interval"
    valid_ratings = [row for row in ratings if row["valid"]]
    return _measure_alpha(ratings, level, seed), _measure_alpha(valid_ratings, level, seed)


def disagreement(ratings: Sequence[Row], pairwise: bool) -> dict[int, float]:
    """Measure the disagreement on each unit.

    Args:
        ratings: The rated items; only valid ratings count.
        pairwise: Whether answers are winners.

    Returns:
        By unit id, the standard deviation (ddof = 1) of the ratings, NaN if there is one only; for
        winners, the share that is not of the majority.
    """
    answers_by_unit: dict[int, list[float]] = {}
    for row in ratings:
        if row["valid"]:
            answers_by_unit.setdefault(row["unit_id"], []).append(row["answer"])
    return {unit: _spread(answers, pairwise) for unit, answers in answers_by_unit.items()}


def _spread(answers: Sequence[float], pairwise: bool) -> float:
    if pairwise:
        return 1 - max(Counter(answers).values()) / len(answers)
    if len(answers) == 1:
        return float("nan")
    return float(np.std(answers, ddof=1))


def _measure_alpha(ratings: Sequence[Row], level: str, seed: int) -> Alpha:
    raters = _index_values(ratings, "annotator_id")
    units = _index_values(ratings, "unit_id")
    table = np.full((len(units), max(1, len(raters))), np.nan)
    for row in ratings:
        table[units[row["unit_id"]], raters[row["annotator_id"]]] = row["answer"]
    ratings_per_unit = np.sum(~np.isnan(table), axis=1)
    pairable_units = int(np.sum(ratings_per_unit > 1))
    alpha = low = high = float("nan")
    if pairable_units >= _MIN_UNITS:
        alpha = krippendorff_alpha(table, level)
        low, high = alpha_interval(table, level, resamples=_RESAMPLES, seed=seed)
    return Alpha(alpha, low, high, ratings=len(ratings), units=pairable_units)


def _index_values(rows: Sequence[Row], column: str) -> dict[Any, int]:
    """The values of a column with their places, in the order in which they first occur."""
    values = dict.fromkeys(row[column] for row in rows)
    return {value: place for place, value in enumerate(values)}
