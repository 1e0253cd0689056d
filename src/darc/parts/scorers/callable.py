"""Scores from any Python function."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.parts.scorers.base import Pair, conversation_text
from darc.parts.scorers.scale import check_scale
from darc.registry import scorer
from darc.typing import Array

# From pairs of texts (prompt, answer) to one number per pair.
Function = Callable[[Sequence[tuple[str, str]]], Any]


class CallableScorer:
    """Scores by a function from pairs of texts (prompt, answer) to one number per pair.

    Its scores are not kept for later runs, because nobody can tell when the function has changed.
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
        """Wrap a function.

        Args:
            name: What the scorer is called in files and messages.
            function: The function.
            location: The mean score of ordinary answers, if it is known.
            scale: The standard deviation of the scores of ordinary answers, if it is known.
            bounds: The lowest and the highest score.

        Raises:
            InputError: If scores cannot be normalised by location, scale and bounds.
        """
        checked = check_scale(name, location, scale, bounds)
        self.name = name
        self.function = function
        self.location = checked.location
        self.scale = checked.scale
        self.bounds = checked.bounds

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score all pairs by one call of the function, (pairs,)."""
        if not pairs:
            return np.zeros(0)
        texts = [(conversation_text(prompt), answer) for prompt, answer in pairs]
        return _as_scores(self.name, self.function(texts), len(texts))


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
    """Scores by a function of yours, which takes pairs of texts (prompt, answer)."""
    function = _import_function(place)
    return CallableScorer(name or place, function, location, scale, (low, high))


def _import_function(place: str) -> Function:
    module_name, _, path = place.partition(":")
    if not module_name or not path:
        raise InputError(f"{place!r} does not name a function", "write PACKAGE.MODULE:FUNCTION")
    try:
        function: Any = importlib.import_module(module_name)
    except ImportError as problem:
        raise InputError(
            f"the module {module_name!r} cannot be imported: {problem}",
            "install it, or put its folder on PYTHONPATH",
        ) from None
    for attribute in path.split("."):
        function = getattr(function, attribute, None)
    if not callable(function):
        raise InputError(f"there is no function {path!r} in {module_name!r}", "check the spelling")
    checked_function: Function = function
    return checked_function


def _as_scores(name: str, values: Any, count: int) -> Array:
    """The values of a function as finite numbers, (count,)."""
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.zeros((0, 0))
    if scores.shape != (count,):
        raise InputError(
            f"scorer {name!r} returned shape {scores.shape} for {count} pairs",
            "return one number per pair",
        )
    if not np.isfinite(scores).all():
        raise InputError(
            f"scorer {name!r} returned a number that is not finite", "return finite numbers"
        )
    return scores
