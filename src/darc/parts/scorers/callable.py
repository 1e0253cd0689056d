"""Scores from any Python function."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.parts.scorers.base import Pair, conversation
from darc.registry import scorer
from darc.typing import Array

Function = Callable[[Sequence[tuple[str, str]]], Any]


class CallableScorer:
    """A function from pairs of texts, prompt and answer, to one number a pair.

    Its scores are not kept for later runs: nobody can tell when the function has changed.
    """

    version = ""

    def __init__(
        self,
        name: str,
        function: Function,
        location: float | None = None,
        scale: float | None = None,
        bounds: tuple[float, float] = (-10, 10),
    ) -> None:
        self.name = name
        self.function = function
        self.location, self.scale, self.bounds = checked_scale(name, location, scale, bounds)

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One call of the function for all pairs, (n,)."""
        if not pairs:
            return np.zeros(0)
        texts = [(conversation(prompt), answer) for prompt, answer in pairs]
        return finite(self.name, self.function(texts), len(texts))


@scorer("python", "PACKAGE.MODULE:FUNCTION")
def python_scorer(
    place: str,
    *,
    name: str = "",
    location: float | None = None,
    scale: float | None = None,
    low: float = -10.0,
    high: float = 10.0,
) -> CallableScorer:
    """Scores by a function of yours: it takes pairs of texts (prompt, answer), returns numbers."""
    module, _, path = place.partition(":")
    if not module or not path:
        raise InputError(f"{place!r} names no function", "write PACKAGE.MODULE:FUNCTION")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as problem:
        raise InputError(
            f"the module {module!r} cannot be imported: {problem}",
            "install it, or put its folder on PYTHONPATH",
        ) from None
    for part in path.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise InputError(f"there is no function {path!r} in {module!r}", "check the spelling")
    return CallableScorer(name or place, found, location, scale, (low, high))


def checked_scale(
    name: str, location: float | None, scale: float | None, bounds: tuple[float, float]
) -> tuple[float | None, float | None, tuple[float, float]]:
    """A scorer's location, scale and bounds; refuses what cannot be normalised by."""
    numbers = [value for value in (location, scale) if value is not None]
    fine = all(isinstance(value, int | float) and np.isfinite(value) for value in numbers)
    if not fine or (scale is not None and scale <= 0) or not bounds[0] < bounds[1]:
        raise InputError(
            f"scorer {name!r} has location {location}, scale {scale} and bounds {bounds}",
            "location is a number, scale over 0, and low less than high",
        )
    return location, scale, (float(bounds[0]), float(bounds[1]))


def finite(name: str, values: Any, count: int) -> Array:
    """The values as an array, (count,); refuses another shape, and numbers that are none."""
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.zeros((0, 0))
    if scores.shape != (count,):
        raise InputError(
            f"scorer {name!r} gave shape {scores.shape} for {count} pairs", "give one number a pair"
        )
    if not np.isfinite(scores).all():
        raise InputError(f"scorer {name!r} gave a number that is not finite", "give finite numbers")
    return scores
