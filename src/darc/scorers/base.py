"""What every scorer has in common."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.registry.capabilities import Capabilities
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

    `location` and `scale` are its fixed mean and standard deviation over ordinary answers, so that
    its scores can be normalised without looking at the other candidates; None where it was never
    calibrated. Scores outside `bounds` are clipped before a rule sees them. `version` names what
    the scores depend on besides the pair (weights, code, settings): equal names and versions mean
    equal scores, which are then kept for later runs; empty, and nothing is kept.
    """

    @property
    def name(self) -> str:
        """What the scorer is called in files and messages; no two in a run share it."""
        ...

    @property
    def version(self) -> str:
        """What its scores depend on."""
        ...

    @property
    def location(self) -> float | None:
        """The mean over ordinary answers."""
        ...

    @property
    def scale(self) -> float | None:
        """The standard deviation over ordinary answers."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest score."""
        ...

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One finite number a pair of prompt and answer, (n,)."""
        ...


class ReadyScorer(Scorer, Capabilities, Protocol):
    """A scorer that has declared all of its capabilities."""

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """`score`, awaited."""
        ...


def normalised(scorer: Scorer, scores: Array) -> Array:
    """Scores on the common scale, in their own shape: 0 is ordinary, 1 a deviation better."""
    if scorer.location is None or scorer.scale is None:
        raise InputError(f"scorer {scorer.name!r} was never calibrated", "give location and scale")
    return (scores - scorer.location) / scorer.scale


@cache
def source_version() -> str:
    """A hash of the code of the scorers that ship with the package."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def from_costs(costs: Array) -> Array:
    """Scores between 0 and 1 from costs of 0 and more, in the same shape: exp(-cost).

    Smooth everywhere, so that a small change of wording changes a score by little.
    """
    return np.asarray(np.exp(-np.clip(costs, 0.0, 50.0)))
