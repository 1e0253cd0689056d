"""How far cheap judgements of answers may be believed, learnt beside people's ratings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from darc.errors import InputError
from darc.typing import Array

Finite = Annotated[float, Gt(-math.inf), Lt(math.inf)]
Share = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True)
class JudgeWeights:
    """What judgements of an answer predict of people's mean rating of it."""

    #: What a unit of each judgement adds to the prediction, by the name of the judgement; the
    #: trust is in it.
    weights: Mapping[str, Finite]
    #: How far the prediction is believed, from 0 to 1.
    trust: Share
    #: The noise of one rating over the variance of candidates.
    ratio: Finite
    #: How many raters the judgements are worth, with an interval of about 90 %; None where it
    #: cannot be known, because hardly anything was rated twice.
    worth: tuple[Finite, Finite, Finite] | None = None

    def predict(self, judgements: Mapping[str, Array]) -> Array:
        """Predict how far people's mean rating of each candidate is from its prompt's average.

        Args:
            judgements: Numbers (P, K) by name, NaN where a candidate has none. A candidate without
                a judgement counts as the prompt's average. Other names are left aside.

        Returns:
            Deviations (P, K).

        Raises:
            InputError: None of the judgements is known.
        """
        names = [name for name in self.weights if name in judgements]
        if not names:
            raise InputError(
                f"the calibration knows none of the judgements {', '.join(judgements) or '(none)'}",
                f"it was learnt with {', '.join(self.weights)}",
            )
        total = np.zeros(np.shape(judgements[names[0]]))
        for name in names:
            total = total + self.weights[name] * deviations(judgements[name])
        return total

    def worth_in_words(self) -> str:
        """What the judgements are worth, as a sentence."""
        if self.worth is None:
            return (
                "What the judge is worth in raters cannot be known: hardly any answer was rated "
                "twice. Have a random tenth of the prompts rated twice."
            )
        estimate, low, high = self.worth
        return (
            f"Your judge is worth {max(estimate, 0.0):.1f} raters, about 90 %: "
            f"{low:.1f} to {max(high, 0.0):.1f}."
        )


def deviations(values: Array) -> Array:
    """Values (P, K) less the mean of their prompt, 0 where a value is not known."""
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / count
    return np.where(known, values - mean, 0.0)
