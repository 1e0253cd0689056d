"""A rule, a scorer, a generator and a rewriter for DARC, in a package of their own."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import darc
from darc.generators import Settings, candidate_seeds
from darc.types import Candidate, Prompt


@darc.rule("median", because="the largest median of its samples, over the worst scorer")
def median(pools: darc.Pools, *, bonus: float = 0.0) -> darc.Choice:
    """Largest median of the samples, the least over scorers, plus a bonus times the mean."""
    samples = pools.normalized(pools.samples)
    filled = np.where(pools.present[:, None, :, None], samples, 0.0)
    medians = np.nanmedian(filled, axis=3).min(axis=1)
    return darc.largest(pools, medians + bonus * pools.statistics.mean)


@darc.scorer("brevity")
class Brevity:
    """How short an answer is, 0 to 1."""

    name, version, bounds = "brevity", "1", (0.0, 1.0)
    location, scale = 0.5, 0.2

    def __init__(self, *, half: int = 40) -> None:
        self._half = half

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """One number a pair: 0.5 at `half` words."""
        words = np.array([len(text.split()) for _, text in pairs], dtype=np.float64)
        return np.asarray(0.5 ** (words / self._half))


@darc.generator("echo")
class Echo:
    """Says the question back, more often with each candidate."""

    name, version = "echo", "1"

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings,
        report: Callable[[int, int], None] | None = None,
    ) -> list[list[Candidate]]:
        """K echoes a prompt."""
        return [
            [
                Candidate(p.id, i, f"You ask, and I can't tell. {p.question} " * (i + 1), seed=seed)
                for i, seed in enumerate(candidate_seeds(settings, p.id))
            ]
            for p in prompts
        ]


@darc.rewriter("openings")
class Openings:
    """Opens the answer in another way."""

    name = "openings"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to three proposals."""
        words = ("Well", "Indeed", "So")
        return [f"{word}, {text[:1].lower()}{text[1:]}" for word in words[:count]]
