"""When to stop writing candidates: each is a box to open, at a price.

Weitzman (1979), Optimal Search for the Best Alternative ("Pandora's problem"): with boxes that are
alike one opens another as long as what it is expected to add to the best so far exceeds its price.
Here the boxes are a model's next answers, and what they hold is estimated from the answers so far.
"""

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field

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


class Stopping(SettingsModel):
    """When to stop writing candidates."""

    #: The price of an answer, in the scorers' standard deviations.
    cost: float = Field(default=0.02, ge=0, allow_inf_nan=False)
    #: How many answers are written at a time; 0 for a quarter of all, but no less than 2.
    wave: int = Field(default=0, ge=1, lt=1_000_000)
    #: How many answers are written at least.
    least: int = Field(default=2, ge=1, lt=1_000_000)

    def at_least(self, n: int | None) -> "Stopping":
        """The same for a decision that returns the n best answers."""
        return self.model_copy(update={"least": max(self.least, n or 1)})

    def wave_size(self, k: int) -> int:
        """How many of k candidates are written at a time."""
        return self.wave or max(2, -(-k // 4))


def parse_stop(text: str) -> Stopping | None:
    """Parse a text such as "pandora" or "pandora:cost=0.05,wave=4".

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
    if name != "pandora":
        raise InputError(f"stop is {text[:80]!r}", "it is none, pandora or pandora:cost=0.05")
    pairs = [pair for pair in options.split(",") if pair]
    return validate_settings(Stopping, parse_pairs(pairs, "stop"), "stop")
