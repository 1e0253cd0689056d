"""Where an adaptive study stands: how sure its choices are and what was saved."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.study.wave_planning import LEAST_VALUE, Belief, WaveRequest, believe
from darc.study.waves import (
    AdaptiveState,
    budget_of,
    has_ended,
    next_requests,
    read_state,
)
from darc.typing import Mask

# Why no ratings are asked for any more, in words.
ENDINGS = {
    "price": "no further rating is worth its price",
    "budget": "the budget is spent",
    "raters": "everybody has rated all that is worth a rating",
}


@dataclass(frozen=True)
class PromptStatus:
    """A prompt of an adaptive study as the lead may see it."""

    #: Its place among the prompts, from 1.
    number: int
    #: How many valid ratings its answers have, and how many are asked for so far.
    valid: int
    wanted: int
    #: How many a fixed design would take.
    fixed: int
    #: The probability that no other answer is clearly better than the best one so far; None before
    #: every answer of the study is rated.
    certainty: float | None
    #: By how much the best answer is expected to be better than that one, in standard deviations of
    #: one answer's ratings; None as above.
    expected_regret: float | None
    #: Whether no further rating of it is asked for, as far as is known now.
    finished: bool
    #: How many ratings the next wave would ask for as things stand.
    next_wave: int
    #: Empty while the study is open.
    prompt_id: str = ""
    #: The best candidate so far; empty while the study is open.
    choice: str = ""


@dataclass(frozen=True)
class AdaptiveStatus:
    """An adaptive study as its lead may see it."""

    #: The wave that is being rated; 0 is the pilot.
    wave: int
    #: How many ratings it asked for.
    wave_ratings: int
    #: Why no more are asked for: price, budget or raters; empty while there may be more.
    ending: str
    #: How many ratings a fixed design would take.
    fixed_ratings: int
    #: How many ratings may be asked for at most, and how many were so far.
    budget: int
    wanted_ratings: int
    #: How many ratings of the fixed design are saved: those of prompts that need no more, less
    #: what these took; of all prompts when the study has ended.
    saved_ratings: int
    #: How many ratings the next wave would ask for as things stand, and of how many prompts.
    next_ratings: int
    next_prompts: int
    #: The mean certainty of the prompts; None before every answer of the study is rated.
    certainty: float | None
    prompts: tuple[PromptStatus, ...]

    @property
    def finished_prompts(self) -> int:
        """How many prompts need no more ratings, as far as is known now."""
        return sum(prompt.finished for prompt in self.prompts)

    @property
    def fixed_of_finished(self) -> int:
        """How many ratings a fixed design would take for the prompts that need no more."""
        return sum(prompt.fixed for prompt in self.prompts if prompt.finished)

    @property
    def sentences(self) -> list[str]:
        """The same in words."""
        return [self._wave_in_words(), self._savings_in_words(), self._next_in_words()]

    def _wave_in_words(self) -> str:
        name = f"wave {self.wave}" if self.wave else "the pilot"
        words = f"{name} asks for {self.wave_ratings} ratings"
        if self.ending:
            words = f"ended after {self.wave - 1} waves: {ENDINGS[self.ending]}"
        if self.certainty is None:
            return words
        return (
            f"{words}; on average {self.certainty:.0%} sure that no other answer is clearly better"
        )

    def _savings_in_words(self) -> str:
        share = self.saved_ratings / max(self.fixed_of_finished, 1)
        asked = (
            f"{self.wanted_ratings} ratings asked for; a fixed design takes {self.fixed_ratings}"
        )
        done = f"{self.finished_prompts} of {len(self.prompts)} prompts need no more"
        if not self.finished_prompts:
            return f"{asked}; {done}"
        return f"{asked}; {done}, which saves {self.saved_ratings} ratings of theirs ({share:.0%})"

    def _next_in_words(self) -> str:
        if self.ending:
            return "there is no next wave"
        if self.certainty is None:
            return "the next wave is chosen when every answer has been rated"
        if not self.next_ratings:
            return "as things stand, those who have begun are asked for nothing more"
        return (
            f"as things stand, the next wave asks for {self.next_ratings} ratings of "
            f"{self.next_prompts} prompts"
        )


def adaptive_status(store: Store, connection: Connection, closed: bool) -> AdaptiveStatus | None:
    """Where an adaptive study stands now; None for a fixed design.

    Args:
        store: The study.
        connection: A transaction.
        closed: Whether the study is closed, so that prompts and choices may be named.
    """
    config = store.config
    if not config.is_adaptive:
        return None
    state = read_state(store, connection)
    ended = has_ended(connection)
    belief = None
    requests: list[WaveRequest] = []
    if state.is_rated:
        belief = believe(state.data)
        if not ended:
            requests = next_requests(config, state, belief)
    finished = _finished(config, state, belief, ended)
    names = {}
    if closed and belief is not None:
        best = belief.choice.tolist()
        names = {place: state.candidate_ids[place][best[place]] for place in range(len(best))}
    next_counts = Counter(request.prompt for request in requests)
    sure = None if belief is None else belief.certainty()
    prompts = tuple(
        PromptStatus(
            number=place + 1,
            valid=int(state.valid[place].sum()),
            wanted=int(state.wanted[place].sum()),
            fixed=len(unit_ids) * config.study.ratings,
            certainty=None if sure is None else float(sure.probability[place]),
            expected_regret=None if sure is None else float(sure.regret[place]),
            finished=bool(finished[place]),
            next_wave=next_counts[place],
            prompt_id=state.prompt_ids[place] if closed else "",
            choice=names.get(place, ""),
        )
        for place, unit_ids in enumerate(state.unit_ids)
    )
    last = state.waves[-1]
    items = int(state.data.is_candidate.sum())
    return AdaptiveStatus(
        wave=last["number"],
        wave_ratings=last["ratings"],
        ending=last["ending"],
        fixed_ratings=items * config.study.ratings,
        budget=budget_of(config, items),
        wanted_ratings=int(state.wanted.sum()),
        saved_ratings=sum(prompt.fixed - prompt.wanted for prompt in prompts if prompt.finished),
        next_ratings=len(requests),
        next_prompts=len(next_counts),
        certainty=None if sure is None else float(sure.probability.mean()),
        prompts=prompts,
    )


def _finished(
    config: StudySettings, state: AdaptiveState, belief: Belief | None, ended: bool
) -> Mask:
    """The prompts that need no more ratings, (P,)."""
    lacks = np.asarray((state.valid < state.wanted).any(axis=1))
    if belief is None:
        return np.zeros(len(lacks), dtype=bool)
    if ended:
        return np.asarray(~lacks)
    is_worth_more = belief.value() >= max(config.adaptive.price, LEAST_VALUE)
    return np.asarray(~lacks & ~is_worth_more.any(axis=1))
