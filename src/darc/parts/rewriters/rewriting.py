"""The rewrites of one candidate: proposals are judged until enough of them are accepted.

The work is a sequence of small steps on a state that can be pickled, so that it can be interrupted
after any step and carried on by another process.
"""

import math
import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from darc.errors import InputError
from darc.parts.rewriters.base import Drawing, DrawingRewriter, Rewriter
from darc.parts.rewriters.families import derive_seed, split_family
from darc.parts.rewriters.filters import (
    DUPLICATE_OF_ACCEPTED,
    DUPLICATE_OF_ORIGINAL,
    MIN_SIMILARITY,
    Entities,
    Similarity,
    normalise_spaces,
    rejection_reason,
    similarity_rejection,
)
from darc.settings.choices import Acceptance
from darc.types import Candidate, Prompt, Rejection, Variant

# How many proposals are judged per wanted rewrite, unless the caller says otherwise.
_ATTEMPTS_PER_REWRITE = 4


@dataclass(frozen=True)
class Rewrites:
    """The accepted rewrites of a candidate, and the rejected ones with their reasons."""

    variants: tuple[Variant, ...]
    rejections: tuple[Rejection, ...]


class ProposalRequest(NamedTuple):
    """Proposals that the caller is to get from the rewriter."""

    number: int
    family: str
    seed: int


class _Proposal(NamedTuple):
    text: str
    similarity: float


class _Stage(NamedTuple):
    """A simple family, how many rewrites it is to contribute, and how many may be judged."""

    family: str
    number: int
    max_attempts: int


@dataclass
class RewritingState:
    """How far the rewriting of a candidate has come; it can be pickled."""

    variants: list[Variant] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    finished: bool = False
    #: The number of the stage (simple family) under way.
    stage: int = -1
    #: The number of accepted rewrites at which the stage ends.
    goal: int = 0
    #: The number of proposals of this stage.
    attempts: int = 0
    #: The number of rounds of proposals of this stage.
    rounds: int = 0
    #: What was proposed in this stage, with normalised white space, and why it would be rejected
    #: if it came again.
    seen: dict[str, str] = field(default_factory=dict)
    #: The rewriter's own state, if it proposes in small steps.
    drawing: Drawing | None = None
    #: Whether a round of the drawing is under way.
    round_started: bool = False
    #: Proposals that are still to be judged.
    pending: list[_Proposal] = field(default_factory=list)
    #: What the caller is to get from the rewriter before the work can go on, if anything.
    request: ProposalRequest | None = None
    #: What the caller got from the rewriter.
    delivered: list[str] | None = None

    @property
    def result(self) -> Rewrites:
        """What was accepted and rejected so far."""
        return Rewrites(tuple(self.variants), tuple(self.rejections))


class RewriteOptions(TypedDict, total=False):
    """How a candidate is rewritten; `CandidateRewriting` documents the options."""

    family: str
    seed: int
    max_attempts: int | None
    similarity: Similarity | None
    min_similarity: float
    find_entities: Entities | None
    acceptance: Acceptance


def rewrite_candidate(
    prompt: Prompt,
    candidate: Candidate,
    n_aug: int,
    rewriter: Rewriter,
    *,
    stop: Callable[[], bool] = lambda: False,
    **options: Unpack[RewriteOptions],
) -> Rewrites:
    """Rewrite a candidate.

    Args:
        prompt: The prompt that the candidate answers.
        candidate: The candidate.
        n_aug: The number of accepted rewrites to stop at.
        rewriter: What proposes rewrites.
        stop: Called before each step; True ends the work with what there is. Otherwise the result
            depends on the other arguments alone.
        **options: See `CandidateRewriting`.

    Returns:
        Up to `n_aug` accepted rewrites, and all rejected ones. No proposal is judged twice.
    """
    state = continue_rewriting(
        prompt, candidate, n_aug, rewriter, stop=stop, seconds=math.inf, **options
    )
    return state.result


def continue_rewriting(
    prompt: Prompt,
    candidate: Candidate,
    n_aug: int,
    rewriter: Rewriter,
    *,
    stop: Callable[[], bool] = lambda: False,
    state: RewritingState | None = None,
    seconds: float = 0.2,
    clock: Callable[[], float] = time.perf_counter,
    call_rewriter: bool = True,
    **options: Unpack[RewriteOptions],
) -> RewritingState:
    """Do the work of `rewrite_candidate` for about so many seconds.

    Pass the same arguments and the returned state again until it is finished: its result is that of
    `rewrite_candidate`, however the work was sliced. A step (a draw by rule, a call of another
    rewriter, a judgement) is never cut short, and at least one step is made.

    Args:
        prompt: The prompt that the candidate answers.
        candidate: The candidate.
        n_aug: The number of accepted rewrites to stop at.
        rewriter: What proposes rewrites.
        stop: Called before each step; True ends the work with what there is.
        state: The state to go on from; None to begin.
        seconds: How long to work.
        clock: The clock that measures it.
        call_rewriter: Whether a rewriter without small steps is called here. If not, the returned
            state has a `request`, and the caller puts the proposals into `delivered`.
        **options: See `CandidateRewriting`.

    Returns:
        The state after the work.
    """
    rewriting = CandidateRewriting(prompt, candidate, n_aug, rewriter, call_rewriter, **options)
    if state is None:
        state = RewritingState()
        rewriting.start_next_stage(state)
    deadline = clock() + seconds
    while not state.finished:
        if stop():
            state.finished = True
        else:
            rewriting.step(state)
        if clock() >= deadline or state.request is not None:
            break
    return state


@dataclass
class CandidateRewriting:
    """The steps of rewriting one candidate."""

    prompt: Prompt
    candidate: Candidate
    #: The number of accepted rewrites to stop at.
    n_aug: int
    rewriter: Rewriter
    #: Whether a rewriter without small steps is called here, or by the caller.
    call_rewriter: bool = True
    #: The family of rewrites.
    family: str = "style"
    seed: int = 0
    #: The largest number of judged proposals; None for 4 per wanted rewrite. The family "hybrid"
    #: shares it between its halves.
    max_attempts: int | None = None
    #: Computes the similarities of pairs of texts, (pairs,); None to leave that check out.
    similarity: Similarity | None = None
    #: Rewrites that are less similar to the candidate are rejected.
    min_similarity: float = MIN_SIMILARITY
    #: Finds the named entities of a text; None to leave that check out.
    find_entities: Entities | None = None
    #: Which checks a rewrite must pass. The level "paper" does not look at similarities.
    acceptance: Acceptance = "strict"
    _stages: list[_Stage] = field(init=False)

    def __post_init__(self) -> None:
        """Share the goal and the attempts between the simple families."""
        max_attempts = self.max_attempts
        if max_attempts is None:
            max_attempts = _ATTEMPTS_PER_REWRITE * self.n_aug
        if self.n_aug < 0 or max_attempts < 0:
            raise InputError("n_aug and max_attempts must be 0 or more")
        shares = split_family(self.family, self.n_aug)
        attempt_shares = split_family(self.family, max_attempts)
        self._stages = [
            _Stage(share.family, share.number, attempts.number)
            for share, attempts in zip(shares, attempt_shares, strict=True)
        ]

    @property
    def _compares_meaning(self) -> bool:
        return self.similarity is not None and self.acceptance == "strict"

    def step(self, state: RewritingState) -> None:
        """Judge one proposal, draw, or go on to the next stage."""
        if state.pending:
            self._judge(state, state.pending.pop(0))
            return
        stage = self._stages[state.stage]
        count = min(state.goal - len(state.variants), stage.max_attempts - state.attempts)
        is_exhausted = state.drawing is not None and state.drawing.exhausted
        if not state.round_started and (count <= 0 or is_exhausted):
            self.start_next_stage(state)
            return
        proposals = self._propose(state, stage.family, count)
        if proposals is None:
            return
        state.round_started = False
        state.rounds += 1
        proposals = proposals[:count]
        state.attempts += len(proposals)
        state.pending = self._with_similarities(proposals, state.seen)
        if not proposals and (state.drawing is None or state.drawing.exhausted):
            self.start_next_stage(state)

    def start_next_stage(self, state: RewritingState) -> None:
        """Begin the next simple family, or end the work."""
        state.stage += 1
        if state.stage == len(self._stages):
            state.finished = True
            return
        stage = self._stages[state.stage]
        state.goal = len(state.variants) + stage.number
        state.attempts = 0
        state.rounds = 0
        # What one family rejected another may accept.
        state.seen = {
            normalise_spaces(variant.text): DUPLICATE_OF_ACCEPTED for variant in state.variants
        }
        state.seen[normalise_spaces(self.candidate.text)] = DUPLICATE_OF_ORIGINAL
        if isinstance(self.rewriter, DrawingRewriter):
            state.drawing = self.rewriter.drawing(self.prompt, self.candidate.text, stage.family)

    def _propose(self, state: RewritingState, family: str, count: int) -> list[str] | None:
        """The proposals of a round, or None if they need further steps or a call by the caller."""
        seed = derive_seed(self.seed, self.prompt.id, self.candidate.index, family, state.rounds)
        if state.drawing is not None:
            if not state.round_started:
                state.drawing.start_round(count, seed)
                state.round_started = True
            return state.drawing.step(state.seen)
        if self.call_rewriter:
            return self.rewriter.rewrite(self.prompt, self.candidate.text, count, family, seed)
        proposals = state.delivered
        state.delivered = None
        if proposals is None:
            state.request = ProposalRequest(count, family, seed)
        else:
            state.request = None
        return proposals

    def _judge(self, state: RewritingState, proposal: _Proposal) -> None:
        """Accept or reject a proposal."""
        family = self._stages[state.stage].family
        key = normalise_spaces(proposal.text)
        reason = state.seen.get(key)
        if reason is None:
            reason = self._rejection_reason(proposal, family)
        state.seen.setdefault(key, reason or DUPLICATE_OF_ACCEPTED)
        if reason is None:
            state.variants.append(
                Variant(
                    prompt_id=self.prompt.id,
                    candidate=self.candidate.index,
                    index=len(state.variants),
                    text=proposal.text,
                    family=family,
                    rewriter=self.rewriter.name,
                )
            )
        else:
            state.rejections.append(
                Rejection(
                    prompt_id=self.prompt.id,
                    candidate=self.candidate.index,
                    attempt=len(state.variants) + len(state.rejections),
                    text=proposal.text,
                    family=family,
                    rewriter=self.rewriter.name,
                    reason=reason,
                )
            )

    def _rejection_reason(self, proposal: _Proposal, family: str) -> str | None:
        reason = rejection_reason(
            self.candidate.text, proposal.text, family, self.find_entities, self.acceptance
        )
        if reason is None and self._compares_meaning:
            reason = similarity_rejection(proposal.similarity, self.min_similarity)
        return reason

    def _with_similarities(self, proposals: list[str], seen: Container[str]) -> list[_Proposal]:
        """The proposals with their similarities, which are computed for new texts only."""
        new_texts = list(
            dict.fromkeys(text for text in proposals if normalise_spaces(text) not in seen)
        )
        if self.similarity is None or not self._compares_meaning or not new_texts:
            return [_Proposal(text, 1.0) for text in proposals]
        pairs = [(self.candidate.text, text) for text in new_texts]
        values = np.asarray(self.similarity(pairs), dtype=np.float64)
        if values.shape != (len(new_texts),):
            raise InputError(
                f"the similarity returned shape {values.shape} for {len(new_texts)} pairs",
                "return one number per pair",
            )
        similarity_of = dict(zip(new_texts, values.tolist(), strict=True))
        return [_Proposal(text, similarity_of.get(text, 1.0)) for text in proposals]
