"""What an annotator's answers say about their care; pure functions of records."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.study.config import Quality

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Record:
    """An answer: its kind, the unit's reference and tolerance, the time taken.

    `side` is what was clicked in a pair: -1 left, 1 right, 0 tie; None for a rating.
    """

    kind: str
    answer: float
    reference: float | None
    tolerance: float
    milliseconds: int
    side: int | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer is within the tolerance of its reference."""
        if self.reference is None:
            return True
        return abs(self.answer - self.reference) <= self.tolerance + _ROUNDING


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
    median_seconds: float
    flags: tuple[str, ...]
    exclude: str


def care(records: Sequence[Record], settings: Quality, calibration_share: float = 0.5) -> Care:
    """The care of one annotator; `exclude` is the reason why they should be excluded, or ""."""
    counts = {kind: _count(records, kind) for kind in ("attention", "gold", "calibration")}
    items = [record for record in records if record.kind == "item"]
    seconds = np.array([record.milliseconds / 1000 for record in items])
    flags = []
    if len(items) >= settings.flag_minimum:
        if float(np.mean(seconds < settings.fast_seconds)) > settings.fast_share:
            flags.append("too fast")
        if _constant(items, settings):
            flags.append("near-constant")
    seen, failed = counts["calibration"]
    if seen and failed / seen > calibration_share:
        flags.append("calibration")
    exclude = _reason(counts, settings)
    if exclude and not settings.automatic:
        flags.append(exclude)
    return Care(
        *counts["attention"],
        *counts["gold"],
        *counts["calibration"],
        len(items),
        float(np.median(seconds)) if items else float("nan"),
        tuple(flags),
        exclude,
    )


def _count(records: Sequence[Record], kind: str) -> tuple[int, int]:
    """How many answers of a kind there are, and how many failed."""
    own = [record for record in records if record.kind == kind]
    return len(own), sum(not record.passed for record in own)


def _reason(counts: dict[str, tuple[int, int]], settings: Quality) -> str:
    if counts["attention"][1] > settings.attention_failures:
        return "attention"
    seen, failed = counts["gold"]
    if seen >= settings.gold_minimum and failed / seen > settings.gold_share + _ROUNDING:
        return "gold"
    return ""


def _constant(items: Sequence[Record], settings: Quality) -> bool:
    sides = [record.side for record in items if record.side is not None]
    if sides:
        return max(sides.count(each) for each in (-1, 0, 1)) / len(sides) > settings.one_side
    return float(np.std([record.answer for record in items])) < settings.constant_deviation
