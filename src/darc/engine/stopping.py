"""When to stop writing candidates.

The rule `agree` looks at answers that are equal. For `pandora` each answer is a box to open, at a
price.

Weitzman (1979), Optimal Search for the Best Alternative ("Pandora's problem"): with boxes that are
alike one opens another as long as what it is expected to add to the best so far exceeds its price.
Here the boxes are a model's next answers, and what they hold is estimated from the answers so far.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from darc.engine.copies import copy_key
from darc.engine.same_answers import last_number
from darc.errors import InputError
from darc.registry import parse_pairs
from darc.settings.model import SettingsModel
from darc.settings.validation import validate_settings
from darc.types import Scores
from darc.typing import Array

# How many answers the prior (mean 0, variance 1) counts for.
_PRIOR_ANSWERS = 2
# Standard deviations beyond which the normal distribution is taken to be empty.
_TAIL = 9.0
_LARGEST_PROBABILITY = 1 - 1e-15
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def expected_gain(best: float, mean: float, sd: float, wave: int) -> float:
    """Compute by how much the best of some normal rewards is expected to exceed the best so far.

    This is the integral of 1 - F(x)^wave from `best` on.

    Args:
        best: The best reward so far.
        mean: The mean of the rewards.
        sd: Their standard deviation.
        wave: How many rewards are drawn.

    Returns:
        The expected gain, 0 or more.
    """
    begin = (best - mean) / sd
    if begin >= _TAIL:
        return 0.0
    half_width = (_TAIL - max(begin, -_TAIL)) / 2
    points = _TAIL - half_width * (1 - _NODES)
    above = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in points])
    above = np.minimum(above, _LARGEST_PROBABILITY)
    area = half_width * float(_WEIGHTS @ -np.expm1(wave * np.log1p(-above)))
    return sd * (max(0.0, -_TAIL - begin) + area)


def worth_another(rewards: Sequence[float] | Array, wave: int, cost: float) -> bool:
    """Decide whether further answers are expected to gain what they cost.

    Rewards are taken to be normal. Their mean and variance are those of the rewards so far, shrunk
    towards 0 and 1 as by two more rewards.

    Args:
        rewards: The rewards so far, in the scorers' standard deviations.
        wave: How many further answers would be written.
        cost: What one answer costs, in the same unit.

    Returns:
        Whether to write them.
    """
    reward_array = np.asarray(rewards, dtype=np.float64)
    number = _PRIOR_ANSWERS + len(reward_array)
    squares = float(((reward_array - reward_array.mean()) ** 2).sum())
    spread = math.sqrt((_PRIOR_ANSWERS + squares) / number)
    mean = float(reward_array.sum()) / number
    gain = expected_gain(float(reward_array.max()), mean, spread, wave)
    return gain >= wave * cost


def rewards_of(scores: Scores) -> Array:
    """Compute the rewards of candidates from their first samples.

    Args:
        scores: The scores of K candidates. A scorer without constants is measured by its own
            scores so far. One that has not scored all candidates does not count.

    Returns:
        The rewards (K,), means over scorers in the scorers' standard deviations; NaN where no
        scorer counts.
    """
    rows = []
    first_samples = scores.clipped[:, :, 0]
    for values, location, scale in zip(first_samples, scores.location, scores.scale, strict=True):
        if np.isnan(values).any():
            continue
        if location is None or scale is None:
            location = values.mean()
            scale = values.std()
        rows.append((values - location) / (scale or 1.0))
    if not rows:
        return np.full(scores.values.shape[1], np.nan)
    return np.mean(rows, axis=0)


class StopRule(SettingsModel):
    """When to stop writing candidates, which are written a few at a time."""

    #: How many answers are written at a time; 0 for a quarter of all, but no less than 2.
    wave: int = Field(default=0, ge=1, lt=1_000_000)
    #: How many answers are written at least.
    least: int = Field(default=2, ge=1, lt=1_000_000)

    def at_least(self, n: int | None) -> Self:
        """The same for a decision that returns the n best answers."""
        return self.model_copy(update={"least": max(self.least, n or 1)})

    def wave_size(self, k: int) -> int:
        """How many of k candidates are written at a time."""
        return self.wave or max(2, -(-k // 4))


class Stopping(StopRule):
    """Stop when further candidates are not expected to gain what they cost."""

    #: The price of an answer, in the scorers' standard deviations.
    cost: float = Field(default=0.02, ge=0, allow_inf_nan=False)


class Agreement(StopRule):
    """Stop when the most frequent answer will hardly be overtaken.

    This is the Beta rule of adaptive consistency (arXiv 2305.11860) on the two largest groups of
    equal answers.
    """

    #: How probable it must be that the largest group stays the largest.
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    #: Which answers are equal: those with the same text (or JSON, or tool calls), or with the same
    #: last number.
    by: Literal["text", "number"] = "text"

    def is_reached(self, texts: Sequence[str]) -> bool:
        """Whether the answers so far agree enough.

        Args:
            texts: The answers so far.

        Returns:
            Whether the largest group leads the second largest with the wanted probability.
        """
        groups = Counter(self._key(text) for text in texts)
        sizes = sorted(groups.values(), reverse=True)
        second = sizes[1] if len(sizes) > 1 else 0
        return lead_probability(sizes[0], second) >= self.confidence

    def _key(self, text: str) -> Any:
        if self.by == "number":
            number = last_number(text)
            if number is not None:
                return number
        return copy_key(text)


def lead_probability(first: int, second: int) -> float:
    """The probability that the first of two groups is the larger one in the long run.

    Args:
        first: How many answers are in the first group so far.
        second: How many are in the second group.

    Returns:
        The probability that a share with the posterior Beta(first + 1, second + 1) exceeds 1/2.
    """
    n = first + second + 1
    # The distribution function of a Beta with whole parameters is a binomial tail.
    tail = sum(math.comb(n, wins) for wins in range(first + 1, n + 1))
    return 1.0 - tail / 2**n


def parse_stop(text: str) -> StopRule | None:
    """Parse a text such as "pandora", "pandora:cost=0.05,wave=4" or "agree".

    Args:
        text: The text; "none" or nothing for writing all candidates.

    Returns:
        When to stop, None for never.

    Raises:
        InputError: If the text means nothing, or a number is out of its bounds.
    """
    name, _, options = text.partition(":")
    if name in ("", "none") and not options:
        return None
    if name not in _STOP_RULES:
        raise InputError(
            f"stop is {text[:80]!r}", "it is none, pandora, agree, or pandora:cost=0.05"
        )
    pairs = [pair for pair in options.split(",") if pair]
    return validate_settings(_STOP_RULES[name], parse_pairs(pairs, "stop"), "stop")


_STOP_RULES: dict[str, type[StopRule]] = {"pandora": Stopping, "agree": Agreement}
