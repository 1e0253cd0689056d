"""What every scorer has in common."""

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

Pair = tuple[Prompt, str]


class Embedder(Protocol):
    """Something that turns texts into rows of unit length."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length a text, (n, d)."""


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

    @property
    def version(self) -> str:
        """What its scores depend on."""

    @property
    def location(self) -> float | None:
        """The mean over ordinary answers."""

    @property
    def scale(self) -> float | None:
        """The standard deviation over ordinary answers."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest score."""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One finite number a pair of prompt and answer, (n,)."""


def normalised(scorer: Scorer, scores: Array) -> Array:
    """Scores on the common scale, in their own shape: 0 is ordinary, 1 a deviation better."""
    if scorer.location is None or scorer.scale is None:
        raise InputError(f"scorer {scorer.name!r} was never calibrated", "give location and scale")
    return (scores - scorer.location) / scorer.scale


@cache
def source_version(*sources: str, packages: tuple[str, ...] = ()) -> str:
    """A hash of what a scorer's numbers come from: files, by their paths from here, and packages.

    The files are its modules, with those that they import, and their data; this one always counts.
    A package counts by its version.
    """
    digest = hashlib.sha256()
    for name in sorted({*sources, "base.py"}):
        content = Path(__file__).parent.joinpath(name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    for package in sorted(packages):
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            found = ""
        digest.update(f"{package}\0{found}\0".encode())
    return digest.hexdigest()[:16]


def conversation(prompt: Prompt) -> str:
    """The only message of a prompt, or all of them, each with its role before it."""
    if len(prompt.messages) == 1:
        return prompt.messages[0].content
    return "\n\n".join(f"{m.role.capitalize()}: {m.content}" for m in prompt.messages)


def from_costs(costs: Array) -> Array:
    """Scores between 0 and 1 from costs of 0 and more, in the same shape: exp(-cost).

    Smooth everywhere, so that a small change of wording changes a score by little.
    """
    return np.asarray(np.exp(-np.clip(costs, 0.0, 50.0)))


def sigmoid(logits: Array) -> Array:
    """Probabilities of logits, in their shape."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -700.0, 700.0))))


def finite(scores: Array, name: str) -> Array:
    """The scores, unless one is no number."""
    if not np.isfinite(scores).all():
        raise DarcError(f"{name} gave a score that is no number", "try dtype=fp32")
    return scores
