"""What answers say of annotators' care and of their agreement; pure functions of rows of tasks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Any

import numpy as np

from darc.decide.statistics.agreement import alpha_interval, krippendorff_alpha
from darc.study.schema import passed, side_of
from darc.study.settings import QualitySettings

Row = Mapping[Any, Any]

_ROUNDING = 1e-9
# Below this many answers, speed and sameness say nothing, whatever chance says.
FEWEST = 3
RESAMPLES = 1000
# With fewer items that two people rated, alpha and its interval say nothing.
UNITS = 5


@dataclass(frozen=True)
class Care:
    """Counts of an annotator: checks passed and seen, and flags for the lead's review."""

    attention: int
    attention_failed: int
    gold: int
    gold_failed: int
    calibration: int
    calibration_failed: int
    items: int
    skipped: int
    median_seconds: float
    flags: tuple[str, ...]
    exclude: str


def care(answers: Sequence[Row], settings: QualitySettings, calibration_share: float = 0.5) -> Care:
    """The care of one annotator; `exclude` is the reason why they should be excluded, or ""."""
    given = [row for row in answers if row["answer"] is not None]
    items, skipped = [row for row in given if row["kind"] == "item"], len(answers) - len(given)
    # How many answers of a kind there are, and how many failed.
    counts = {}
    for kind in ("attention", "gold", "calibration"):
        own = [row for row in given if row["kind"] == kind]
        right = (passed(row["answer"], row["reference"], row["tolerance"]) for row in own)
        counts[kind] = len(own), len(own) - sum(right)
    seconds = [row["milliseconds"] / 1000 for row in items]
    fast = sum(each < settings.fast_seconds for each in seconds)
    limit = settings.flag_chance + _ROUNDING
    flags = []
    if len(items) >= FEWEST and fast / len(items) > settings.fast_share:
        chance = tail(fast, len(items), settings.careful_errors)
        if len(items) >= settings.flag_minimum or chance <= limit:
            flags.append("too fast")
    if len(items) >= FEWEST and _constant(items, settings):
        flags.append("near-constant")
    if skipped >= FEWEST and skipped > len(items):
        flags.append("skips most")
    for kind, rate in (("attention", settings.careful_errors), ("gold", settings.gold_share)):
        seen, failed = counts[kind]
        if failed and tail(failed, seen, rate) <= limit:
            flags.append(f"{kind} checks")
    seen, failed = counts["calibration"]
    if seen and failed / seen > calibration_share:
        flags.append("calibration")
    exclude, (seen, failed) = "", counts["gold"]
    if counts["attention"][1] > settings.attention_failures:
        exclude = "attention"
    elif seen >= settings.gold_minimum and failed / seen > settings.gold_share + _ROUNDING:
        exclude = "gold"
    if exclude and not settings.automatic and f"{exclude} checks" not in flags:
        flags.append(f"{exclude} checks")
    median = float(np.median(seconds)) if items else float("nan")
    (attention, gold, calibration) = counts.values()
    return Care(*attention, *gold, *calibration, len(items), skipped, median, tuple(flags), exclude)


def _constant(items: Sequence[Row], settings: QualitySettings) -> bool:
    """Whether the answers hardly differ, and so many that a fair coin would seldom do so."""
    sides = [side_of(row["answer"], row["flipped"]) for row in items if row["second_id"]]
    answers = [row["answer"] for row in items]
    most = max(Counter(sides or answers).values())
    if sides:
        same = most / len(sides) > settings.one_side
    else:
        same = float(np.std(answers)) < settings.constant_deviation
    many = len(items) >= settings.flag_minimum
    return same and (many or 2 * tail(most, len(items), 0.5) <= settings.flag_chance)


def tail(count: int, of: int, rate: float) -> float:
    """The chance of `count` or more events in `of` trials of this rate (the binomial tail)."""
    if not count or rate >= 1:
        return 1.0
    if rate <= 0:
        return 0.0
    odds = log(rate) - log(1 - rate)
    start = lgamma(of + 1) + of * log(1 - rate)
    parts = (k * odds - lgamma(k + 1) - lgamma(of - k + 1) for k in range(count, of + 1))
    return min(1.0, sum(exp(start + part) for part in parts))


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with its bootstrap interval; NaN where it cannot be told.

    Behind it are `ratings`, and `units` that have two of them or more.
    """

    alpha: float
    low: float
    high: float
    ratings: int
    units: int

    @property
    def known(self) -> bool:
        """Whether there is an alpha."""
        return self.alpha == self.alpha

    @property
    def words(self) -> str:
        """Alpha and its interval, or why there is none."""
        if self.units < UNITS:
            return f"not yet ({self.units} of {UNITS} items rated twice)"
        if not self.known:
            return "undefined: all ratings are the same"
        if self.high - self.low < 1e-9:
            return f"{self.alpha:.2f}"
        return f"{self.alpha:.2f} ({self.low:.2f} to {self.high:.2f})"


def agreement(ratings: Sequence[Row], pairwise: bool, seed: int = 0) -> tuple[Alpha, Alpha]:
    """Alpha of all ratings, and of the valid ones; interval scale, or nominal for winners."""
    level, valid = "nominal" if pairwise else "interval", [row for row in ratings if row["valid"]]
    return _alpha(ratings, level, seed), _alpha(valid, level, seed)


def disagreement(ratings: Sequence[Row], pairwise: bool) -> dict[int, float]:
    """By unit, of the valid ratings: the deviation (ddof 1), or the share against the majority."""
    by_unit: dict[int, list[float]] = {}
    for row in ratings:
        if row["valid"]:
            by_unit.setdefault(row["unit_id"], []).append(row["answer"])

    def spread(found: list[float]) -> float:
        if pairwise:
            return 1 - max(Counter(found).values()) / len(found)
        return float(np.std(found, ddof=1)) if len(found) > 1 else float("nan")

    return {unit: spread(found) for unit, found in by_unit.items()}


def _alpha(ratings: Sequence[Row], level: str, seed: int) -> Alpha:
    raters, units = (
        {name: place for place, name in enumerate(dict.fromkeys(row[key] for row in ratings))}
        for key in ("annotator_id", "unit_id")
    )
    table = np.full((len(units), max(1, len(raters))), np.nan)
    for row in ratings:
        table[units[row["unit_id"]], raters[row["annotator_id"]]] = row["answer"]
    pairable = int(np.sum(np.sum(~np.isnan(table), axis=1) > 1))
    alpha = low = high = float("nan")
    if pairable >= UNITS:
        alpha = krippendorff_alpha(table, level)
        low, high = alpha_interval(table, level, resamples=RESAMPLES, seed=seed)
    return Alpha(alpha, low, high, len(ratings), pairable)
