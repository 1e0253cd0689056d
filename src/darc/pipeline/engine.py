"""Text becomes numbers: rewrites and scores of the answers to one prompt."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.perturb import Perturbed, Rewriter, perturb
from darc.perturb.filters import Entities, Similarity
from darc.pipeline.clock import Clock
from darc.pipeline.meaning import LEAST
from darc.pipeline.score_cache import ScoreCache
from darc.pipeline.scoring import Patience, Scoring
from darc.scorers.base import Scorer
from darc.types import Candidate, Prompt

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Engine:
    """A rewriter and some scorers: what turns the answers to a prompt into numbers.

    The samples of an answer are itself, unless `include_original` is False, and up to `n_aug`
    accepted rewrites of at most `max_attempts` proposed (4 n_aug if None). `similarity` and
    `find_entities` are further checks of rewrites, `cache` keeps scores for later.
    """

    rewriter: Rewriter
    scorers: Sequence[Scorer]
    n_aug: int = 8
    family: str = "style"
    seed: int = 0
    similarity: Similarity | None = None
    find_entities: Entities | None = None
    cache: ScoreCache | None = None
    patience: Patience = field(default_factory=Patience)
    include_original: bool = True
    max_attempts: int | None = None
    scoring: Scoring = field(init=False)

    def __post_init__(self) -> None:
        """Check, and gather the scorers."""
        if self.n_aug < 0:
            raise InputError(f"n_aug must be 0 or more, not {self.n_aug}", "8 is usual")
        if not (self.n_aug or self.include_original):
            raise InputError(
                "with neither the original nor a rewrite there is nothing to score",
                "give an n_aug of 1 or more, or include the original",
            )
        if self.max_attempts is not None and self.max_attempts < 1:
            raise InputError(f"max_attempts is {self.max_attempts}", "give at least 1")
        names = [scorer.name for scorer in self.scorers]
        if not names:
            raise InputError("there is no scorer", "give at least one")
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"scorer {name!r} is given twice", "give each scorer once")
        object.__setattr__(self, "scoring", Scoring(self.scorers, self.cache, self.patience))

    @property
    def constants(self) -> tuple[list[float], list[float]] | None:
        """The scorers' locations and scales, None unless each has both."""
        found = [(s.location, s.scale) for s in self.scorers]
        locations = [location for location, _ in found if location is not None]
        scales = [scale for _, scale in found if scale is not None]
        whole = len(locations) == len(scales) == len(found)
        return (locations, scales) if whole else None

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The scorers' bounds."""
        return [(float(s.bounds[0]), float(s.bounds[1])) for s in self.scorers]

    def rewrite(self, prompt: Prompt, candidates: Sequence[Candidate]) -> list[Perturbed]:
        """The accepted and the rejected rewrites of each candidate."""
        at_once = min(len(candidates), getattr(self.rewriter, "parallel", 1))
        if at_once <= 1:
            return [self._rewritten(prompt, candidate) for candidate in candidates]
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda each: self._rewritten(prompt, each), candidates))

    def score(self, prompt: Prompt, texts: Sequence[str]) -> Array:
        """The scores of texts, (texts, M); equal texts are scored once."""
        return self.scoring.score(prompt, texts)

    def _rewritten(self, prompt: Prompt, candidate: Candidate) -> Perturbed:
        return perturb(
            prompt,
            candidate,
            self.n_aug,
            self.rewriter,
            family=self.family,
            seed=self.seed,
            max_attempts=self.max_attempts,
            similarity=self.similarity,
            least_similarity=LEAST,
            find_entities=self.find_entities,
        )


class LazyPool:
    """Answers a lazy search's questions for one prompt: rewrites and scores on demand.

    `made` holds rewrites that are there already, by candidate.
    """

    def __init__(
        self,
        engine: Engine,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        clock: Clock,
        made: dict[int, Perturbed] | None = None,
    ) -> None:
        self._engine, self._prompt, self._candidates = engine, prompt, candidates
        self._clock = clock
        self.perturbed: dict[int, Perturbed] = dict(made or {})
        self.scores = np.full((len(engine.scorers), len(candidates), engine.n_aug + 1), np.nan)
        self.calls = 0

    def text(self, candidate: int, sample: int) -> str | None:
        """The original (sample 0) or a rewrite, made when first wanted; None if there is none."""
        if sample == 0:
            return self._candidates[candidate].text
        self._rewrite([candidate])
        variants = self.perturbed[candidate].variants
        return variants[sample - 1].text if sample <= len(variants) else None

    def answer(self, pairs: Sequence[tuple[int, int]]) -> Array:
        """The scores of (candidate, sample) pairs, (pairs, M), NaN where there is no sample."""
        self._rewrite([candidate for candidate, sample in pairs if sample > 0])
        texts = [self.text(candidate, sample) for candidate, sample in pairs]
        there = [text for text in texts if text is not None]
        result = np.full((len(pairs), len(self._engine.scorers)), np.nan)
        if there:
            with self._clock.stage("score"):
                scores = self._engine.score(self._prompt, there)
            result[[text is not None for text in texts]] = scores
            self.calls += len(there)
        for pair, row in zip(pairs, result, strict=True):
            self.scores[:, pair[0], pair[1]] = row
        return result

    def everything(self) -> None:
        """Make every rewrite and score it, and the originals where they count."""
        first = 0 if self._engine.include_original else 1
        every = np.ndindex(self.scores.shape[1:])
        self.answer([(int(k), int(i)) for k, i in every if i >= first])

    def originals_if_alone(self) -> bool:
        """Whether no candidate has a rewrite, so that the originals are scored after all."""
        alone = bool(np.isnan(self.scores).all())
        if alone:
            self.answer([(k, 0) for k in range(len(self._candidates))])
        return alone

    def _rewrite(self, wanted: Sequence[int]) -> None:
        missing = [k for k in dict.fromkeys(wanted) if k not in self.perturbed]
        if missing:
            with self._clock.stage("rewrite"):
                made = self._engine.rewrite(self._prompt, [self._candidates[k] for k in missing])
            self.perturbed.update(zip(missing, made, strict=True))
