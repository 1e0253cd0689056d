"""What every scorer offers, and helpers that several scorers use."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from darc.errors import DarcError, InputError
from darc.types import Prompt
from darc.typing import Array

# A prompt and an answer to it.
Pair = tuple[Prompt, str]

# The logarithm of the largest number that exp can return lies a little above this.
_MAX_EXPONENT = 700.0
_MAX_COST = 50.0


class Embedder(Protocol):
    """Something that turns texts into vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as rows of unit length, (texts, dimensions)."""


class Scorer(Protocol):
    """Scores answers to prompts; higher is better."""

    @property
    def name(self) -> str:
        """What the scorer is called in files and messages; unique in a run."""

    @property
    def version(self) -> str:
        """What the scores depend on besides the pair: weights, code and options.

        Scores of equal names and versions are equal, and are kept for later runs. Empty if scores
        must not be kept.
        """

    @property
    def location(self) -> float | None:
        """The mean score of ordinary answers; None if the scorer was never calibrated.

        With `scale`, it normalises scores without looking at the other candidates.
        """

    @property
    def scale(self) -> float | None:
        """The standard deviation of the scores of ordinary answers; None if not calibrated."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score; others are clipped before a rule sees them."""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs of prompt and answer with one finite number each, (pairs,)."""


def normalise_scores(scorer: Scorer, scores: Array) -> Array:
    """Put scores on the common scale, where 0 is an ordinary answer and 1 a deviation better.

    Args:
        scorer: The scorer that gave the scores.
        scores: Scores of any shape.

    Returns:
        Normalised scores in the same shape.

    Raises:
        InputError: If the scorer has no location or no scale.
    """
    if scorer.location is None or scorer.scale is None:
        raise InputError(f"scorer {scorer.name!r} was never calibrated", "give location and scale")
    return (scores - scorer.location) / scorer.scale


@cache
def source_version(*sources: str, packages: tuple[str, ...] = ()) -> str:
    """Hash what a scorer's numbers come from.

    Args:
        *sources: The scorer's modules, those that they import, and their data files, as paths
            relative to this folder. This module always counts.
        packages: Installed packages that count by their version.

    Returns:
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for name in sorted({*sources, "base.py"}):
        content = Path(__file__).parent.joinpath(name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    for package in sorted(packages):
        digest.update(f"{package}\0{_package_version(package)}\0".encode())
    return digest.hexdigest()[:16]


def _package_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def conversation_text(prompt: Prompt) -> str:
    """Write a prompt as one text: its only message, or all messages with their roles."""
    if len(prompt.messages) == 1:
        return prompt.messages[0].content
    turns = [f"{message.role.capitalize()}: {message.content}" for message in prompt.messages]
    return "\n\n".join(turns)


def scores_from_costs(costs: Array) -> Array:
    """Turn costs of 0 and more into scores between 0 and 1, in the same shape: exp(-cost).

    The function is smooth, so that a small change of wording changes a score by little.
    """
    return np.asarray(np.exp(-np.clip(costs, 0.0, _MAX_COST)))


def sigmoid(logits: Array) -> Array:
    """Turn logits into probabilities, in the same shape."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -_MAX_EXPONENT, _MAX_EXPONENT))))


def require_finite(scores: Array, name: str) -> Array:
    """Return the scores of a model.

    Args:
        scores: Scores of any shape.
        name: The scorer's name, for the error.

    Returns:
        The same scores.

    Raises:
        DarcError: If a score is not a finite number.
    """
    if not np.isfinite(scores).all():
        raise DarcError(f"{name} returned a score that is not a number", "try dtype=fp32")
    return scores
