"""The plain records that travel between the parts of DARC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array


@dataclass(frozen=True)
class Statistics:
    """Statistics of each candidate's samples, (K,) or, for many prompts, (P, K)."""

    #: The entropic value; after aggregation over scorers, their soft minimum.
    value: Array
    #: The mean; after aggregation over scorers, their average.
    mean: Array
    #: The standard deviation; after aggregation over scorers, their maximum.
    sigma: Array
    #: Mean minus value; after aggregation over scorers, their maximum.
    risk_premium: Array
    #: The number of samples, the smallest over the scorers.
    count: Array
    #: What each scorer's samples were shifted by to normalise them, (M,) or (P, M).
    location: Array
    #: What each scorer's samples were divided by to normalise them, (M,) or (P, M).
    scale: Array
    #: Which scorers gave every candidate of a prompt the same score, (M,) or (P, M).
    constant: NDArray[np.bool_]
    #: The same before aggregation, with an axis of scorers before that of the candidates.
    by_scorer: "Statistics | None" = None


@dataclass(frozen=True)
class Flip:
    """The smallest change of one sample that makes another candidate win."""

    #: The places of the scorer, the candidate and the sample.
    scorer: int
    candidate: int
    sample: int
    #: The sample before and after the change, on the raw scale.
    before: float
    after: float
    #: The candidate that is chosen after the change.
    winner: int


@dataclass(frozen=True)
class Certificate:
    """What can be said for certain of a choice, and under which assumption."""

    #: For each scorer, on its raw scale, a number that the chosen candidate's true mean exceeds
    #: with `probability`; None without bounds. It holds for independent raters only, so it is None
    #: for rewrites of one answer and for a panel of judges.
    lower_bound: tuple[float, ...] | None
    probability: float
    #: The tilted probabilities (M, n) of the chosen candidate's samples, whose weighted cost is the
    #: entropic value.
    worst_case_weights: Array
    #: The second choice; None where there is none.
    runner_up: int | None
    #: How much the rule prefers the first choice to the second.
    margin: float | None


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    #: system, user or assistant.
    role: str
    content: str


@dataclass(frozen=True)
class Prompt:
    """A conversation that waits for an answer."""

    id: str
    messages: tuple[Message, ...]
    category: str = ""

    @property
    def question(self) -> str:
        """The last message of the user."""
        for message in reversed(self.messages):
            if message.role == "user":
                return message.content
        return ""


class Written(str):
    """A text with what is known of how it was written, for scorers that use it."""

    #: How certain the model was of it: its self-certainty, or the mean log-probability of a token.
    certainty: float | None = None


class CutOff(Written):
    """A text that stopped at the token limit, for scorers that charge for it."""


@dataclass(frozen=True)
class Candidate:
    """One answer to a prompt."""

    prompt_id: str
    #: Its place among the candidates.
    index: int
    text: str
    tokens: int = 0
    #: Whether it stopped at the token limit.
    truncated: bool = False
    #: The mean log-likelihood per token under the generator, where it is known.
    log_likelihood: float | None = None
    seed: int | None = None
    #: The generator's self-certainty, where it was measured.
    certainty: float | None = None
    #: The name of an answer that a user gave.
    name: str = ""
    #: How many times this text was written.
    copies: int = 1
    #: The names of a user's other answers with the same text.
    other_names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its id in tables: its name, or else its position."""
        return self.name or str(self.index)


@dataclass(frozen=True)
class Variant:
    """An accepted rewrite of a candidate."""

    prompt_id: str
    #: The place of the candidate.
    candidate: int
    #: The place of the rewrite among the accepted ones.
    index: int
    text: str
    #: style or targeted.
    family: str
    #: The name of the rewriter.
    rewriter: str


@dataclass(frozen=True)
class Rejection:
    """A rewrite that a filter rejected."""

    prompt_id: str
    #: The place of the candidate.
    candidate: int
    #: The place of the rewrite among all that were proposed.
    attempt: int
    text: str
    #: style or targeted.
    family: str
    #: The name of the rewriter.
    rewriter: str
    #: Why it was rejected.
    reason: str


def clipped(values: Array, bounds: Sequence[tuple[float, float]] | None) -> Array:
    """Values (..., M, K, n) within each scorer's bounds; without bounds as they are."""
    if bounds is None:
        return values
    low, high = np.array(bounds, dtype=np.float64).T[:, :, None, None]
    return np.clip(values, low, high)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of M scorers for the n samples of each of K candidates."""

    #: (M, K, n), NaN where there is no sample or it was never scored.
    values: Array
    #: The names of the scorers.
    scorers: tuple[str, ...]
    #: The lowest and the highest score of each scorer.
    bounds: tuple[tuple[float, float], ...]
    #: The mean of each scorer over ordinary answers; None where it was never calibrated.
    location: tuple[float | None, ...]
    #: The standard deviation of each scorer over ordinary answers, likewise.
    scale: tuple[float | None, ...]
    #: The names of the samples, such as "original" and "rewrite 1", or of the raters.
    samples: tuple[str, ...] = ()
    #: The names of the candidates, where they have any.
    candidates: tuple[str, ...] = ()
    #: The group of each rater that belongs to one, by the rater's name.
    groups: Mapping[str, str] = field(default_factory=dict)
    #: Whether nothing is left to be scored.
    complete: bool = True
    #: What one sample is: "rewrite" or "rater".
    sample: str = "rewrite"
    #: Whether the raters are judge models, which are not independent people.
    judged: bool = False
    #: All grades (criteria, K, n, repeats), where a rater gave several numbers. `values` then has
    #: their means.
    grades: Array | None = None
    criteria: tuple[str, ...] = ()
    #: In which of two orders each rater saw the candidates, (n,); empty where a rater saw one at a
    #: time.
    orders: tuple[int, ...] = ()
    #: Whether the raters compared answers, so that the numbers are no grades of satisfaction.
    compared: bool = False
    #: The places of candidates and raters whose grade could not be obtained.
    failed: tuple[tuple[int, int], ...] = ()

    @property
    def repeats(self) -> int:
        """How often each rater was asked."""
        if self.grades is None:
            return 1
        return int(self.grades.shape[3])

    @property
    def constants(self) -> tuple[list[float], list[float]] | None:
        """The scorers' locations and scales; None unless each scorer has both."""
        locations = [location for location in self.location if location is not None]
        scales = [scale for scale in self.scale if scale is not None]
        if not len(locations) == len(scales) == len(self.scorers):
            return None
        return locations, scales

    @property
    def clipped(self) -> Array:
        """The values within the bounds of their scorers, (M, K, n)."""
        return clipped(self.values, self.bounds)

    @property
    def share_clipped(self) -> float:
        """The share of the values that lie outside the bounds."""
        is_scored = ~np.isnan(self.values)
        is_clipped = (self.clipped != self.values) & is_scored
        return float(is_clipped.sum() / max(1, is_scored.sum()))

    def only(self, scorers: Sequence[int], candidates: Sequence[int] | None = None) -> "Scores":
        """The scores of some scorers and candidates.

        Args:
            scorers: The places of the scorers.
            candidates: The places of the candidates; None for all.

        Returns:
            The same scores without the others.
        """
        if candidates is None:
            candidates = range(self.values.shape[1])
        names: tuple[str, ...] = ()
        if self.candidates:
            names = tuple(self.candidates[k] for k in candidates)
        grades = None
        if self.grades is not None:
            grades = self.grades[:, list(candidates)]
        failed = []
        for new_place, old_place in enumerate(candidates):
            failed += [(new_place, i) for k, i in self.failed if k == old_place]
        return replace(
            self,
            values=self.values[np.ix_(scorers, candidates)],
            scorers=tuple(self.scorers[m] for m in scorers),
            bounds=tuple(self.bounds[m] for m in scorers),
            location=tuple(self.location[m] for m in scorers),
            scale=tuple(self.scale[m] for m in scorers),
            candidates=names,
            grades=grades,
            failed=tuple(failed),
        )
