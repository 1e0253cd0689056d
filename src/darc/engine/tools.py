"""The rewriter and the scorers of an engine, ready for use; each worker process has its own."""

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.parts.ready import ReadyRewriter, ReadyScorer
from darc.parts.rewriters import Rewrites, RewritingState, continue_rewriting
from darc.parts.rewriters.filters import Entities, Similarity
from darc.parts.scorers.base import Embedder, Pair
from darc.parts.scorers.judge import Judge
from darc.parts.scorers.panel import Panel
from darc.parts.scorers.panel_settings import PAIRWISE
from darc.settings.choices import Acceptance
from darc.types import Candidate, Message, Prompt, Scores
from darc.typing import Array

#: What the scorer of a panel's grades is called.
PANEL = "panel"
# 1 in 100 of the good rewrites in the tests is less similar to its original, by the static
# embeddings.
_LEAST_SIMILARITY = 0.62


@dataclass(frozen=True)
class RewriteProgress:
    """How far the rewriting of a candidate has come after a slice of the work."""

    #: The pickled `RewritingState`. Whoever holds it until the next slice need not know what is in
    #: it.
    state: bytes
    #: What to ask a rewriter on a server for before the next slice: the number of proposals, the
    #: family and the seed.
    proposal_request: tuple[int, str, int] | None


@dataclass(frozen=True)
class Tools:
    """A rewriter and scorers: what turns the answers to a prompt into numbers."""

    rewriter: ReadyRewriter
    #: The scorers; with a panel, the judges of its raters.
    scorers: Sequence[ReadyScorer]
    #: The panel whose grades are the samples; None where rewrites are.
    panel: Panel | None = None
    #: How many rewrites of each candidate are wanted; 0 means that the rewriter is not used.
    n_aug: int = 8
    #: Which kind of rewrites to make.
    family: str = "style"
    seed: int = 0
    #: How many rewrites are proposed at most; None for 4 times the wanted number.
    max_attempts: int | None = None
    #: Rejects rewrites whose meaning is too far from the original's.
    similarity: Similarity | None = None
    #: Rejects rewrites that name other people or places than the original.
    find_entities: Entities | None = None
    #: Which checks a rewrite must pass; None for those that the rewriter needs.
    acceptance: Acceptance | None = None

    def __post_init__(self) -> None:
        """Refuse to work without scorers, or with two that cannot be told apart."""
        names = [scorer.name for scorer in self.scorers]
        if not names:
            raise InputError("there is no scorer", "give at least one")
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"scorer {name!r} is given twice", "give each scorer once")

    @property
    def needs_log_probabilities(self) -> bool:
        """Whether a scorer reads the log-probabilities that come with the answers."""
        return any(
            getattr(scorer.part, "needs_log_probabilities", False) for scorer in self.scorers
        )

    def empty_scores(self, candidates: Sequence[Candidate], n_aug: int) -> Scores:
        """The scores of candidates before any sample is scored.

        Args:
            candidates: The K candidates.
            n_aug: How many rewrites of each there are; without meaning for a panel.

        Returns:
            Scores whose values (M, K, n) are NaN, where n is 1 + n_aug, or the number of raters.
        """
        candidate_names = names_of_candidates([candidate.name for candidate in candidates])
        if self.panel is not None:
            return Scores(
                values=np.full((1, len(candidates), len(self.panel)), np.nan),
                scorers=(PANEL,),
                bounds=(_float_bounds(Judge.bounds),),
                location=(None,),
                scale=(None,),
                samples=self.panel.names,
                candidates=candidate_names,
                complete=False,
                sample="rater",
                judged=True,
                criteria=self.panel.criteria,
                orders=self.panel.orders,
                compared=self.panel.mode == PAIRWISE,
            )
        samples = ("original", *(f"rewrite {i}" for i in range(1, 1 + n_aug)))
        return Scores(
            values=np.full((len(self.scorers), len(candidates), len(samples)), np.nan),
            scorers=tuple(scorer.name for scorer in self.scorers),
            bounds=tuple(_float_bounds(scorer.bounds) for scorer in self.scorers),
            location=tuple(scorer.location for scorer in self.scorers),
            scale=tuple(scorer.scale for scorer in self.scorers),
            samples=samples,
            candidates=candidate_names,
            complete=False,
            sample="rewrite",
        )

    def rewrite(
        self,
        prompt: Prompt,
        candidate: Candidate,
        n_aug: int,
        stop: Callable[[], bool] = lambda: False,
    ) -> Rewrites:
        """Rewrite a candidate.

        Args:
            prompt: The conversation that it answers.
            candidate: The candidate.
            n_aug: How many accepted rewrites to aim for.
            stop: Asked now and then; ends the work with what there is.

        Returns:
            The accepted and the rejected rewrites.
        """
        result = self._continue_rewriting(prompt, candidate, n_aug, stop=stop, seconds=math.inf)
        return result.result

    def rewrite_slice(
        self,
        prompt: Prompt,
        candidate: Candidate,
        n_aug: int,
        progress: RewriteProgress | None,
        proposals: list[str] | None,
        seconds: float,
    ) -> Rewrites | RewriteProgress:
        """Work on the rewrites of a candidate for about so many seconds.

        A rewriter on a server is not called here. Its proposals are requested in the progress, and
        handed over with the next slice.

        Args:
            prompt: The conversation that the candidate answers.
            candidate: The candidate.
            n_aug: How many accepted rewrites to aim for.
            progress: What the slice before returned, None for the first one.
            proposals: What a rewriter on a server has proposed.
            seconds: How long to work.

        Returns:
            The rewrites if they are finished, else how far they have come.
        """
        state: RewritingState | None = None
        if progress is not None:
            # Only this class writes these bytes, in a process that this engine started.
            state = pickle.loads(progress.state)
            if proposals is not None:
                state.request = None
                state.delivered = proposals
        state = self._continue_rewriting(
            prompt,
            candidate,
            n_aug,
            state=state,
            seconds=seconds,
            call_rewriter=not self.rewriter.remote,
        )
        if state.finished:
            return state.result
        return RewriteProgress(pickle.dumps(state), state.request)

    def score(self, place: int, pairs: Sequence[Pair]) -> Array:
        """Score pairs of prompt and answer with the scorer at a place."""
        return self.scorers[place].score(pairs)

    def warm(self) -> None:
        """Use once what runs in worker processes, so that it is loaded."""
        prompt = Prompt("warm", (Message("user", "Is it warm?"),))
        if self.rewriter.in_process and self.n_aug:
            self.rewrite(prompt, Candidate("warm", 0, "It is warm today, isn't it?"), 1)
        for scorer in self.scorers:
            if scorer.in_process:
                scorer.score([(prompt, "It is warm.")])

    def _continue_rewriting(
        self, prompt: Prompt, candidate: Candidate, n_aug: int, **options: Any
    ) -> RewritingState:
        return continue_rewriting(
            prompt,
            candidate,
            n_aug,
            self.rewriter.part,
            family=self.family,
            seed=self.seed,
            max_attempts=self.max_attempts,
            similarity=self.similarity,
            min_similarity=_LEAST_SIMILARITY,
            find_entities=self.find_entities,
            acceptance=self.acceptance or self.rewriter.acceptance,
            **options,
        )


def _float_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = bounds
    return float(low), float(high)


def names_of_candidates(names: Sequence[str]) -> tuple[str, ...]:
    """The names of candidates, made up for those without one; empty if none has a name."""
    if not any(names):
        return ()
    return tuple(name or f"candidate {k}" for k, name in enumerate(names))


def similarity_of(embedder: Embedder) -> Similarity:
    """A function that returns the cosines (pairs,) of the embeddings of pairs of texts."""

    def similarity(pairs: Sequence[tuple[str, str]]) -> Array:
        if not pairs:
            return np.zeros(0)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        rows = {text: row for row, text in enumerate(texts)}
        vectors = np.asarray(embedder.embed(texts), dtype=np.float64)
        left_vectors = vectors[[rows[left] for left, _ in pairs]]
        right_vectors = vectors[[rows[right] for _, right in pairs]]
        return np.einsum("nd,nd->n", left_vectors, right_vectors)

    return similarity
