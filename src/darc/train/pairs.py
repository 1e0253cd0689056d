"""Preference pairs made from ratings or scores."""

from collections.abc import Iterator, MutableMapping, Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np

from darc.decide.statistics.summary import statistics
from darc.errors import InputError
from darc.settings.pairs import PairSettings
from darc.train.preferences import Row
from darc.typing import Array


def make_pairs(
    samples: Array,
    questions: Sequence[str],
    texts: Sequence[Sequence[str]],
    choosing: PairSettings,
    counts: MutableMapping[str, int],
) -> Iterator[Row]:
    """Make the rows of a preference file; O(P K^2) for all pairs.

    Several scorers are normalised within the prompt and hedged as the rules do. Candidates with the
    same text make no pair, nor does one without samples or text.

    Args:
        samples: Shape (P, M, K, n).
        questions: One per prompt, P of them.
        texts: One per prompt and candidate.
        choosing: How pairs are made.
        counts: Updated with the numbers of pairs, of contentious pairs, of prompts with pairs
            (prompts) and of those without.

    Yields:
        Rows with messages, the margin, and the probability if it is not 1.

    Raises:
        InputError: Contentious pairs are wanted, but no candidate has two ratings.
    """
    summary = statistics(samples, choosing.beta, choosing.gamma)
    ranking = summary.mean if choosing.order_by == "mean" else summary.value
    if choosing.contentious != "keep" and np.isnan(summary.sigma).all():
        raise InputError(
            "contentious pairs cannot be recognised: no candidate has two ratings",
            "use --contentious keep",
        )
    for question, answers, values, sigma in zip(
        questions, texts, ranking, summary.sigma, strict=True
    ):
        has_pairs = False
        for better, worse in _candidate_pairs(values, choosing.which, answers):
            difference = float(values[better] - values[worse])
            if not difference > 0 or difference < choosing.margin:
                continue
            probability = _probability_of_preference(difference, sigma[[better, worse]])
            if probability < choosing.agreement:
                counts["contentious"] += 1
                if choosing.contentious == "drop":
                    continue
            row: Row = {
                "prompt": [{"role": "user", "content": question}],
                "chosen": [{"role": "assistant", "content": answers[better]}],
                "rejected": [{"role": "assistant", "content": answers[worse]}],
                "margin": round(difference, 9),
            }
            if choosing.contentious == "soft" and probability < 1.0:
                row["probability"] = round(probability, 9)
            counts["pairs"] += 1
            has_pairs = True
            yield row
        if has_pairs:
            counts["prompts"] += 1
        else:
            counts["without"] += 1


def _probability_of_preference(difference: float, deviations: Array) -> float:
    """The probability that someone prefers the better answer; 1 if nobody disagrees."""
    spread = float(np.sqrt(np.nansum(deviations**2)))
    if not spread:
        return 1.0
    return NormalDist(0.0, spread).cdf(difference)


def _candidate_pairs(ranking: Array, which: str, texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of candidates, the better one first; ties are in their own order."""
    usable = [
        place
        for place, (text, value) in enumerate(zip(texts, ranking, strict=False))
        if text.strip() and not np.isnan(value)
    ]
    order = sorted(usable, key=lambda place: -ranking[place])
    if which == "extremes":
        order = list(dict.fromkeys([*order[:1], *order[-1:]]))
    return [(a, b) for a, b in combinations(order, 2) if texts[a] != texts[b]]
