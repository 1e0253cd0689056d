"""How well a model of atypical answers tells them from typical ones."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from darc.parts.scorers.base import Pair
from darc.train.examples import divide
from darc.train.negatives import balanced, negatives_by_kind
from darc.typing import Array

_HELD_OUT_SHARE = 0.25
_STOPPING_SHARE = 0.2


class ExampleParts(NamedTuple):
    """Typical pairs in three parts with no prompt in common."""

    #: To fit the model.
    fitted: list[Pair]
    #: To stop the fit.
    stopping: list[Pair]
    #: To report on.
    held_out: list[Pair]


def split_examples(pairs: Sequence[Pair], seed: int) -> ExampleParts:
    """Divide typical pairs: a quarter of the prompts is held out, a fifth of the others stops.

    Args:
        pairs: The pairs.
        seed: The seed of the division.

    Returns:
        The parts.
    """
    rest, held_out = divide(pairs, _HELD_OUT_SHARE, seed)
    fitted, stopping = divide(rest, _STOPPING_SHARE, seed + 1)
    return ExampleParts(fitted, stopping, held_out)


def report_on(
    atypicality: Callable[[Sequence[Pair]], Array],
    typical: list[Pair],
    seed: int,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Measure a model on held-out pairs.

    Args:
        atypicality: The model: pairs to numbers, shape (n,).
        typical: The held-out pairs.
        seed: The seed of the negatives.
        tell: Called with a sentence before the measurement.

    Returns:
        The number of held-out pairs, and the AUC by kind of negative and over as many negatives of
        all kinds as there are typical pairs.
    """
    tell(f"measuring {len(typical)} held-out answers")
    typical_scores = atypicality(typical)
    negatives = negatives_by_kind(typical, seed + 2)
    negatives["all, 1:1"] = [pair for pair, _ in balanced(typical, seed + 3, rounds=1)]
    aucs = {}
    for kind, pairs in negatives.items():
        if pairs:
            aucs[kind] = auc(typical_scores, atypicality(pairs))
    return {"held_out": len(typical), "auc": aucs}


def auc(typical: Array, atypical: Array) -> float:
    """The area under the ROC curve.

    Args:
        typical: Scores of typical answers, shape (n,).
        atypical: Scores of atypical answers, shape (m,).

    Returns:
        The probability that an atypical answer scores above a typical one, equals counting half;
        NaN if there are none.
    """
    if not len(typical) or not len(atypical):
        return float("nan")
    return float(0.5 + 0.5 * np.sign(atypical[:, None] - typical).mean())
