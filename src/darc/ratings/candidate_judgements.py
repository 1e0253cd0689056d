"""Cheap judgements of candidates, found by the ids of prompt and candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.typing import Array, Integers

# A rater who graded at least this share of a judge's answers is a judgement of its own.
_OWN_JUDGEMENT_SHARE = 0.8
# More raters than this are not told apart.
_MOST_RATERS = 32

#: (prompt_id, candidate_id).
Key = tuple[str, str]


@dataclass(frozen=True, eq=False)
class CandidateJudgements:
    """Numbers about candidates, such as the grades of LLM judges."""

    #: What errors call them.
    source: str
    #: The numbers of every judgement by its name, and by the ids of prompt and candidate.
    numbers: Mapping[str, Mapping[Key, float]]

    def of(self, ratings: Ratings) -> dict[str, Array]:
        """The judgements of the candidates of some ratings.

        Returns:
            Arrays (P, K) by name, NaN where a candidate has no judgement.
        """
        prompts, _, candidates, _ = ratings.shape
        arrays = {}
        for name, numbers in self.numbers.items():
            array = np.full((prompts, candidates), np.nan)
            for row, prompt_id in enumerate(ratings.prompt_ids):
                for column, candidate_id in enumerate(ratings.candidate_ids[row]):
                    array[row, column] = numbers.get((prompt_id, candidate_id), np.nan)
            arrays[name] = array
        return arrays

    def matched(self, ratings: Ratings) -> dict[str, Array]:
        """The judgements of the candidates, at least one of which must have one.

        Raises:
            InputError: No candidate of the ratings has a judgement.
        """
        arrays = self.of(ratings)
        if not any(np.isfinite(array).any() for array in arrays.values()):
            prompt_id = ratings.prompt_ids[0]
            candidate_id = ratings.candidate_ids[0][0]
            raise InputError(
                f"{self.source} judges no candidate of {ratings.name}",
                f"use the same prompt and candidate ids; {ratings.name} has prompt {prompt_id!r} "
                f"with candidate {candidate_id!r}",
            )
        return arrays


def judgements_of_ratings(judge: Ratings, prefix: str = "") -> CandidateJudgements:
    """What the grades of judges, or the scores of a run, say about each candidate.

    For every scorer this is the mean, without the raters' severity; and, where several raters
    graded nearly all answers, each rater's own grade.

    Args:
        judge: The grades or scores.
        prefix: What the names begin with, to tell several judges apart.
    """
    numbers: dict[str, Mapping[Key, float]] = {}
    for scorer, scorer_name in enumerate(judge.scorers):
        samples = judge.samples[:, scorer]
        raters: Sequence[tuple[str, Array]] = []
        if judge.has_raters:
            codes = judge.raters[:, scorer]
            raters = _frequent_raters(judge.rater_names, samples, codes)
            samples = _without_severity(samples, codes, len(judge.rater_names))
        numbers[prefix + (scorer_name or "mean")] = _by_key(judge, _mean(samples))
        for rater_name, grades in raters:
            name = rater_name
            if scorer_name:
                name = f"{scorer_name}:{rater_name}"
            numbers[prefix + name] = _by_key(judge, grades)
    return CandidateJudgements(judge.name, numbers)


def joined_judgements(parts: Sequence[CandidateJudgements]) -> CandidateJudgements:
    """All judgements of several sources together."""
    numbers: dict[str, Mapping[Key, float]] = {}
    for part in parts:
        numbers.update(part.numbers)
    return CandidateJudgements(" and ".join(part.source for part in parts), numbers)


def _frequent_raters(
    names: Sequence[str], samples: Array, codes: Integers
) -> list[tuple[str, Array]]:
    """The raters who graded nearly all answers, with their grades (P, K), if there are several."""
    if not 2 <= len(names) <= _MOST_RATERS:
        return []
    known = np.isfinite(samples)
    answers = max(int(known.any(axis=-1).sum()), 1)
    frequent = []
    for code, name in enumerate(names):
        grades = _mean(np.where(known & (codes == code), samples, np.nan))
        if np.isfinite(grades).sum() >= _OWN_JUDGEMENT_SHARE * answers:
            frequent.append((name, grades))
    return frequent


def _without_severity(samples: Array, codes: Integers, raters: int) -> Array:
    """Samples (P, K, n) less how far their rater is above the answers' means on average."""
    known = np.isfinite(samples) & (codes >= 0)
    deviation = samples - _mean(samples)[..., None]
    count = np.bincount(codes[known], minlength=raters)
    total = np.bincount(codes[known], weights=deviation[known], minlength=raters)
    severity = total / np.maximum(count, 1)
    return np.where(known, samples - severity[np.maximum(codes, 0)], samples)


def _mean(samples: Array) -> Array:
    """The mean of the samples of each candidate, (P, K), NaN where there is none."""
    known = np.isfinite(samples)
    count = known.sum(axis=-1)
    total = np.where(known, samples, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _by_key(judge: Ratings, values: Array) -> dict[Key, float]:
    """Values (P, K) by the ids of prompt and candidate."""
    numbers = {}
    for row, prompt_id in enumerate(judge.prompt_ids):
        for column, candidate_id in enumerate(judge.candidate_ids[row]):
            value = float(values[row, column])
            if np.isfinite(value):
                numbers[prompt_id, candidate_id] = value
    return numbers
