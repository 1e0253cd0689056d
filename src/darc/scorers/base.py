"""What a scorer is, and the table of the scorers that ship with the package."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from darc.errors import UnknownName
from darc.types import Prompt

Array = NDArray[np.float64]
Pair = tuple[Prompt, str]


class Embedder(Protocol):
    """Something that turns texts into rows of unit length."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length a text, (n, d)."""
        ...


class Scorer(Protocol):
    """A judge of answers; higher is better.

    `location` and `scale` are its fixed mean and standard deviation over ordinary answers, and
    `bounds` contain every score it can give, so that its scores can be normalised without looking
    at the other candidates.
    """

    name: str
    location: float
    scale: float
    bounds: tuple[float, float]

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One finite number a pair of prompt and answer, (n,)."""
        ...


Factory = Callable[..., Scorer]
Made = TypeVar("Made", bound=Factory)

SCORERS: dict[str, Factory] = {}


def scorer(name: str) -> Callable[[Made], Made]:
    """Decorator that enters a factory of scorers in the table under a name."""

    def enter(factory: Made) -> Made:
        if SCORERS.setdefault(name, factory) is not factory:
            raise ValueError(f"there is already a scorer named {name!r}")
        return factory

    return enter


def make_scorer(name: str, **settings: Any) -> Scorer:
    """A new scorer by name; raises `UnknownName` with the nearest one."""
    if name not in SCORERS:
        raise UnknownName("scorer", name, SCORERS)
    return SCORERS[name](**settings)


def normalised(scorer: Scorer, scores: Array) -> Array:
    """Scores on the common scale, in their own shape: 0 is ordinary, 1 a deviation better."""
    return (scores - scorer.location) / scorer.scale


def from_costs(costs: Array) -> Array:
    """Scores between 0 and 1 from costs of 0 and more, in the same shape: exp(-cost).

    Smooth everywhere, so that a small change of wording changes a score by little.
    """
    return np.asarray(np.exp(-np.clip(costs, 0.0, 50.0)))
