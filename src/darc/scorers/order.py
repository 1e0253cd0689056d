"""How plausible the order of the words is, whatever the words are."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from darc.language.classes import CLASSES, NUMBER_OF, class_of
from darc.typing import Array

SMOOTHING = 8.0
LARGEST_LIFT = 1.0
GAPS = (1, 2)
PROSE_GAIN = 0.15
PRIOR_TOKENS = 8


@cache
def gains() -> Array:
    """Log of how much likelier a class is after another than anywhere, (gaps, C, C).

    From counts in our own answers, drawn towards 0 where there are few; read once.
    """
    stored = json.loads(files("darc.scorers").joinpath("order.json").read_text(encoding="utf-8"))
    if stored["classes"] != CLASSES:
        raise ValueError("order.json was made for other classes; run tests.scorers.calibrate")
    return log_lift(np.array(stored["counts"], dtype=np.float64))


def log_lift(counts: Array) -> Array:
    """Smoothed log P(next | previous) / P(next) from counts (..., C, C), in their shape."""
    share = counts.sum(axis=-2, keepdims=True) + 0.5
    share = share / share.sum(axis=-1, keepdims=True)
    total = counts.sum(axis=-1, keepdims=True)
    conditional = (counts + SMOOTHING * share) / (total + SMOOTHING)
    # Counts of our few thousand words say little of how rare a rare pair is.
    return np.clip(np.log(conditional / share), -LARGEST_LIFT, LARGEST_LIFT)


def count_pairs(texts: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """How often each class follows each, by distance, over tokenised texts, (gaps, C, C)."""
    counts = np.zeros((len(GAPS), len(CLASSES), len(CLASSES)), dtype=np.int64)
    for tokens in texts:
        numbers = _numbers(tokens)
        for row, gap in enumerate(GAPS):
            np.add.at(counts[row], (numbers[:-gap], numbers[gap:]), 1)
    return counts


def order_gain(tokens: Sequence[str]) -> float:
    """Mean log lift of neighbouring classes in one text; about 0.17 in prose, -0.1 when shuffled.

    Few tokens are drawn towards the value of prose, since they say little. O(tokens).
    """
    numbers = _numbers(tokens)
    table = gains()
    total, count = 0.0, 0
    for row, gap in enumerate(GAPS):
        lifts = table[row, numbers[:-gap], numbers[gap:]]
        total += float(lifts.sum()) / len(GAPS)
        count = max(count, lifts.size)
    return (total + PRIOR_TOKENS * PROSE_GAIN) / (count + PRIOR_TOKENS)


def _numbers(tokens: Sequence[str]) -> NDArray[np.int64]:
    """The class numbers of tokens between two stops, (n + 2,)."""
    inner = [NUMBER_OF[class_of(token)] for token in tokens]
    stop = NUMBER_OF["stop"]
    return np.array([stop, *inner, stop], dtype=np.int64)
