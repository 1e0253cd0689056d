"""How plausible the order of the words of a text is, by the classes of neighbouring words."""

import json
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from darc.language.data_files import DATA
from darc.language.word_classes import CLASSES, class_of
from darc.typing import Array

_SMOOTHING = 8.0
_MAX_LIFT = 1.0
# The distances between the words of a pair.
_GAPS = (1, 2)
# The gain of ordinary prose, and how many tokens this prior weighs as much as.
_PROSE_GAIN = 0.15
_PRIOR_TOKENS = 8
_NUMBER_OF_CLASS = {name: number for number, name in enumerate(CLASSES)}


@cache
def class_gains() -> Array:
    """Read how much likelier each class is after another class than anywhere.

    The counts come from our own answers and are shrunk towards 0 where there are few.

    Returns:
        Logarithms of shape (gaps, classes, classes): gap, previous class, next class.

    Raises:
        ValueError: If order.json was made for other classes.
    """
    stored = json.loads((DATA / "order.json").read_text(encoding="utf-8"))
    if stored["classes"] != CLASSES:
        raise ValueError("order.json was made for other classes; run tests.parts.scorers.calibrate")
    return log_lift(np.array(stored["counts"], dtype=np.float64))


def log_lift(counts: Array) -> Array:
    """Compute the smoothed log of P(next | previous) / P(next).

    Args:
        counts: Counts of pairs of classes, (..., previous, next).

    Returns:
        Logarithms in the shape of the counts, between -1 and 1.
    """
    share = counts.sum(axis=-2, keepdims=True) + 0.5
    share = share / share.sum(axis=-1, keepdims=True)
    total = counts.sum(axis=-1, keepdims=True)
    conditional = (counts + _SMOOTHING * share) / (total + _SMOOTHING)
    # The counts come from a few thousand words and say little about how rare a rare pair is.
    return np.clip(np.log(conditional / share), -_MAX_LIFT, _MAX_LIFT)


def order_gain(tokens: Sequence[str]) -> float:
    """Compute the mean log lift of neighbouring classes in one text. O(tokens).

    Args:
        tokens: Words, numbers and punctuation marks in lower case.

    Returns:
        About 0.17 for prose and -0.1 for shuffled words. Few tokens say little, so that a short
        text is shrunk towards the value of prose.
    """
    total = 0.0
    pair_count = 0
    for gains, (before, after) in zip(class_gains(), class_pairs(tokens), strict=True):
        lifts = gains[before, after]
        total += float(lifts.sum()) / len(_GAPS)
        pair_count = max(pair_count, lifts.size)
    return (total + _PRIOR_TOKENS * _PROSE_GAIN) / (pair_count + _PRIOR_TOKENS)


def class_pairs(tokens: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Number the classes of each pair of tokens, with a stop at either end of the text.

    Args:
        tokens: Words, numbers and punctuation marks in lower case.

    Returns:
        For each distance between the tokens, the class numbers of the first and of the second
        token of each pair.
    """
    names = ["stop", *map(class_of, tokens), "stop"]
    numbers = np.array([_NUMBER_OF_CLASS[name] for name in names], dtype=np.int64)
    return [(numbers[:-gap], numbers[gap:]) for gap in _GAPS]
