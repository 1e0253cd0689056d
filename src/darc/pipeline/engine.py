"""Text becomes numbers: rewrites and scores of the answers to one prompt."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from darc.errors import DarcError
from darc.perturb import Perturbed, Rewriter, perturb
from darc.scorers.base import Scorer
from darc.types import Candidate, Prompt

Array = NDArray[np.float64]


@dataclass
class Clock:
    """Milliseconds by stage."""

    milliseconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent


@dataclass(frozen=True)
class Engine:
    """A rewriter and some scorers: what turns the answers to a prompt into numbers."""

    rewriter: Rewriter
    scorers: Sequence[Scorer]
    n_aug: int = 8
    family: str = "style"
    seed: int = 0

    @property
    def constants(self) -> tuple[list[float], list[float]]:
        """The scorers' locations and scales."""
        return [s.location for s in self.scorers], [s.scale for s in self.scorers]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The scorers' bounds."""
        return [(float(s.bounds[0]), float(s.bounds[1])) for s in self.scorers]

    def rewrite(self, prompt: Prompt, candidate: Candidate) -> Perturbed:
        """The accepted and the rejected rewrites of a candidate."""
        return perturb(
            prompt,
            candidate,
            self.n_aug,
            self.rewriter,
            family=self.family,
            seed=self.seed,
        )

    def score(self, prompt: Prompt, texts: Sequence[str]) -> Array:
        """The scores of texts, (texts, M); equal texts are scored once."""
        unique = list(dict.fromkeys(texts))
        table = np.empty((len(unique), len(self.scorers)))
        for column, scorer in enumerate(self.scorers):
            table[:, column] = checked(scorer, prompt, unique)
        place = {text: row for row, text in enumerate(unique)}
        return table[[place[text] for text in texts]]


def checked(scorer: Scorer, prompt: Prompt, texts: Sequence[str]) -> Array:
    """A scorer's numbers for texts, (texts,); what is no number is told with scorer and text."""
    try:
        numbers = np.asarray(scorer.score([(prompt, text) for text in texts]), dtype=np.float64)
    except DarcError:
        raise
    except Exception as problem:
        raise DarcError(
            f"scorer {scorer.name!r} failed on prompt {prompt.id!r} ({problem})",
            "mend it and run again: what is written stays",
        ) from problem
    if numbers.shape != (len(texts),):
        raise DarcError(
            f"scorer {scorer.name!r} returned {numbers.shape} numbers for {len(texts)} texts",
            "a scorer returns one number a text",
        )
    if not np.isfinite(numbers).all():
        text = texts[int(np.argmin(np.isfinite(numbers)))]
        raise DarcError(
            f"scorer {scorer.name!r} gave no number for prompt {prompt.id!r}, text {text[:60]!r}",
            "a scorer returns finite numbers",
        )
    return numbers


class LazyPool:
    """Answers a lazy search's questions for one prompt: rewrites and scores on demand."""

    def __init__(
        self, engine: Engine, prompt: Prompt, candidates: Sequence[Candidate], clock: Clock
    ) -> None:
        self._engine, self._prompt, self._candidates = engine, prompt, candidates
        self._clock = clock
        self.perturbed: dict[int, Perturbed] = {}
        self.scores = np.full((len(engine.scorers), len(candidates), engine.n_aug + 1), np.nan)
        self.calls = 0

    def text(self, candidate: int, sample: int) -> str | None:
        """The original (sample 0) or a rewrite, made when first wanted; None if there is none."""
        if sample == 0:
            return self._candidates[candidate].text
        if candidate not in self.perturbed:
            with self._clock.stage("rewrite"):
                made = self._engine.rewrite(self._prompt, self._candidates[candidate])
            self.perturbed[candidate] = made
        variants = self.perturbed[candidate].variants
        return variants[sample - 1].text if sample <= len(variants) else None

    def answer(self, pairs: Sequence[tuple[int, int]]) -> Array:
        """The scores of (candidate, sample) pairs, (pairs, M), NaN where there is no sample."""
        texts = [self.text(candidate, sample) for candidate, sample in pairs]
        there = [text for text in texts if text is not None]
        result = np.full((len(pairs), len(self._engine.scorers)), np.nan)
        if there:
            with self._clock.stage("score"):
                result[[text is not None for text in texts]] = self._engine.score(
                    self._prompt, there
                )
            self.calls += len(there)
        for pair, row in zip(pairs, result, strict=True):
            self.scores[:, pair[0], pair[1]] = row
        return result
