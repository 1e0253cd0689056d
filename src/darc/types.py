"""The plain records that travel between the parts of DARC."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array


@dataclass(frozen=True)
class Statistics:
    """What the samples of each candidate say, (K,) or, for many prompts, (P, K).

    After aggregation over scorers the value is their soft minimum, the mean their average, and
    sigma and risk premium their maxima (so the premium is no longer mean - value). `count` is the
    smallest sample count over the scorers. `by_scorer` holds the same arrays before aggregation,
    with a scorer axis before the candidates. `location` and `scale` are what each scorer's samples
    were normalised by, (M,) or (P, M); `constant` marks scorers that gave every candidate of a
    prompt the same score.
    """

    value: Array
    mean: Array
    sigma: Array
    risk_premium: Array
    count: Array
    location: Array
    scale: Array
    constant: NDArray[np.bool_]
    by_scorer: "Statistics | None" = None


@dataclass(frozen=True)
class Flip:
    """The smallest change of one sample that makes another candidate win.

    `scorer`, `candidate` and `sample` say which; `before` and `after` are its values on the raw
    scale, and `winner` is the candidate chosen after the change.
    """

    scorer: int
    candidate: int
    sample: int
    before: float
    after: float
    winner: int


@dataclass(frozen=True)
class Certificate:
    """What can be said for certain of a choice, and under which assumption.

    `lower_bound` holds, per scorer on its raw scale, a number that the chosen candidate's true mean
    exceeds with `probability` (None without `bounds`); it is valid for independent raters only, not
    for rewrites of one answer. `worst_case_weights` (M, n) are the tilted probabilities of the
    chosen candidate's samples, whose weighted cost is the entropic value. `runner_up` is the second
    choice and `margin` how much the rule prefers the first to it, both None where there is none.
    """

    lower_bound: tuple[float, ...] | None
    probability: float
    worst_case_weights: Array
    runner_up: int | None
    margin: float | None


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; `role` is system, user or assistant."""

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
        """The last thing that the user said."""
        return next((m.content for m in reversed(self.messages) if m.role == "user"), "")


class CutOff(str):
    """A text that stopped at the token limit, for scorers that charge for it."""


@dataclass(frozen=True)
class Candidate:
    """One answer to a prompt.

    `truncated` marks an answer that stopped at the token limit; `log_likelihood` is the mean per
    token under the generator, where it is known; `name` is what others call an answer that was not
    made here. `copies` is how many times this text was written, and `other_names` are the names of
    the user's answers with the same text.
    """

    prompt_id: str
    index: int
    text: str
    tokens: int = 0
    truncated: bool = False
    log_likelihood: float | None = None
    seed: int | None = None
    name: str = ""
    copies: int = 1
    other_names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What tables call it: its name, or else its position."""
        return self.name or str(self.index)


@dataclass(frozen=True)
class Variant:
    """An accepted rewrite of a candidate, by a rewriter of a family (style or targeted)."""

    prompt_id: str
    candidate: int
    index: int
    text: str
    family: str
    rewriter: str


@dataclass(frozen=True)
class Rejection:
    """A rewrite that a filter refused, and why."""

    prompt_id: str
    candidate: int
    attempt: int
    text: str
    family: str
    rewriter: str
    reason: str


def clipped(values: Array, bounds: Sequence[tuple[float, float]] | None) -> Array:
    """Values (..., M, K, n) within each scorer's bounds, as they are without any."""
    if bounds is None:
        return values
    low, high = np.array(bounds, dtype=np.float64).T[:, :, None, None]
    return np.clip(values, low, high)


@dataclass(frozen=True, eq=False)
class Scores:
    """What M scorers gave the n samples of each of K candidates, with all that describes them.

    `values` is (M, K, n), NaN where there is no sample or it was never asked for. `bounds`,
    `location` and `scale` are each scorer's own (the latter two None where it was never
    calibrated), `samples` names the samples, such as original or rewrite 1, or the raters, and
    `candidates` the candidates, where they have names.
    `complete` says that nothing more could be had. `sample` is what one sample is: a rewrite, or a
    rater. Where a rater gave several numbers, `grades` (criteria, K, n, repeats) has them all, and
    `values` their means. `failed` are the (candidate, sample) that a rater was asked for in vain.
    """

    values: Array
    scorers: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    location: tuple[float | None, ...]
    scale: tuple[float | None, ...]
    samples: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    complete: bool = True
    sample: str = "rewrite"
    grades: Array | None = None
    criteria: tuple[str, ...] = ()
    failed: tuple[tuple[int, int], ...] = ()

    @property
    def repeats(self) -> int:
        """How often each rater was asked."""
        return 1 if self.grades is None else int(self.grades.shape[3])

    @property
    def constants(self) -> tuple[list[float], list[float]] | None:
        """The scorers' locations and scales, None unless each has both."""
        locations = [each for each in self.location if each is not None]
        scales = [each for each in self.scale if each is not None]
        whole = len(locations) == len(scales) == len(self.scorers)
        return (locations, scales) if whole else None

    @property
    def clipped(self) -> Array:
        """The values within the bounds of their scorers, (M, K, n)."""
        return clipped(self.values, self.bounds)

    @property
    def share_clipped(self) -> float:
        """How much of the values lies outside the bounds."""
        seen = ~np.isnan(self.values)
        return float(((self.clipped != self.values) & seen).sum() / max(1, seen.sum()))

    def only(self, scorers: Sequence[int], candidates: Sequence[int] | None = None) -> "Scores":
        """The same for some of the scorers and candidates."""
        kept = range(self.values.shape[1]) if candidates is None else candidates
        return replace(
            self,
            values=self.values[np.ix_(scorers, kept)],
            scorers=tuple(self.scorers[m] for m in scorers),
            bounds=tuple(self.bounds[m] for m in scorers),
            location=tuple(self.location[m] for m in scorers),
            scale=tuple(self.scale[m] for m in scorers),
            candidates=tuple(self.candidates[k] for k in kept) if self.candidates else (),
            grades=None if self.grades is None else self.grades[:, list(kept)],
            failed=tuple(
                (place, i) for place, k in enumerate(kept) for j, i in self.failed if j == k
            ),
        )
