"""Preference pairs from ratings or scores."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.core.statistics import statistics
from darc.errors import InputError, UnknownName
from darc.typing import Array

CRITERIA = ("mean", "value")
TREATMENTS = ("keep", "drop", "soft")
WHICH = ("extremes", "all")


@dataclass(frozen=True)
class PairChoosing:
    """How pairs are made.

    `by` mean or (entropic) value orders the candidates; two that differ by less than `margin` make
    no pair. `which` is "extremes", the best against the worst of a prompt, or "all". A pair is
    contentious when the probability that someone prefers the chosen answer is below `agreement`:
    Phi(difference / sqrt(sigma_a^2 + sigma_b^2)), the two being judged independently. `contentious`
    says what becomes of such pairs: keep, drop, or soft, which gives every pair its probability.
    """

    by: str = "mean"
    margin: float = 0.0
    which: str = "extremes"
    contentious: str = "keep"
    agreement: float = 0.75
    beta: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        for kind, text, known in (
            ("criterion", self.by, CRITERIA),
            ("treatment", self.contentious, TREATMENTS),
            ("choice of pairs", self.which, WHICH),
        ):
            if text not in known:
                raise UnknownName(kind, text, known)
        if not self.margin >= 0:
            raise InputError(f"the margin is {self.margin:g}", "give 0 or more")
        if not 0.5 <= self.agreement <= 1:
            raise InputError(f"the agreement is {self.agreement:g}", "give 0.5 to 1")


@dataclass(frozen=True)
class Pair:
    """Two candidates of a prompt: places, difference, and the probability that it is right."""

    prompt: int
    chosen: int
    rejected: int
    margin: float
    probability: float


@dataclass(frozen=True)
class Made:
    """The pairs, and how many there were: contentious ones, prompts without any pair."""

    pairs: list[Pair]
    contentious: int
    without: int


def make_pairs(samples: Array, choosing: PairChoosing, texts: Sequence[Sequence[str]] = ()) -> Made:
    """Pairs of the candidates of samples (P, M, K, n), NaN where there is none.

    Several scorers are normalised within the prompt and hedged as the rules do. Candidates with the
    same text make no pair, nor does one without text where `texts` are given. O(P K^2) for all
    pairs.
    """
    found = statistics(samples, choosing.beta, choosing.gamma)
    ranking = found.mean if choosing.by == "mean" else found.value
    if choosing.contentious != "keep" and np.isnan(found.sigma).all():
        raise InputError(
            "contentious pairs cannot be told: no candidate has two ratings",
            "use --contentious keep",
        )
    pairs: list[Pair] = []
    contentious = without = 0
    for prompt in range(len(ranking)):
        before = len(pairs)
        own = texts[prompt] if texts else None
        for best, worst in _couples(ranking[prompt], choosing.which, own):
            difference = float(ranking[prompt, best] - ranking[prompt, worst])
            if not difference > 0 or difference < choosing.margin:
                continue
            share = _probability(difference, found.sigma[prompt, [best, worst]])
            contentious += share < choosing.agreement
            if choosing.contentious == "drop" and share < choosing.agreement:
                continue
            label = share if choosing.contentious == "soft" else 1.0
            pairs.append(Pair(prompt, best, worst, difference, label))
        without += len(pairs) == before
    return Made(pairs, contentious, without)


def rows_of(
    made: Made, questions: Sequence[str], texts: Sequence[Sequence[str]]
) -> Iterator[dict[str, Any]]:
    """The pairs as rows of a preference file: messages, margin, and probability if it is not 1."""
    for pair in made.pairs:
        row: dict[str, Any] = {
            "prompt": [{"role": "user", "content": questions[pair.prompt]}],
            "chosen": _answer(texts[pair.prompt][pair.chosen]),
            "rejected": _answer(texts[pair.prompt][pair.rejected]),
            "margin": round(pair.margin, 9),
        }
        if pair.probability < 1.0:
            row["probability"] = round(pair.probability, 9)
        yield row


def _couples(ranking: Array, which: str, texts: Sequence[str] | None) -> Iterator[tuple[int, int]]:
    """Places of candidates in couples, the better first; ties in their own order."""
    order = [int(k) for k in np.argsort(-ranking, kind="stable") if not np.isnan(ranking[k])]
    if texts is not None:
        order = [k for k in order if k < len(texts) and texts[k].strip()]
    if which == "extremes":
        ends = [(order[0], order[-1])] if len(order) > 1 else []
    else:
        ends = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    for best, worst in ends:
        if texts is None or texts[best] != texts[worst]:
            yield best, worst


def _probability(difference: float, sigmas: Array) -> float:
    """Phi(difference / root of the summed squares); 1 where no sigma is known."""
    spread = float(np.sqrt(np.nansum(sigmas**2)))
    return 1.0 if spread == 0 else 0.5 * (1.0 + math.erf(difference / spread / math.sqrt(2.0)))


def _answer(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]
