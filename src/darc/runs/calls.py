"""How many calls the scores of a prompt took."""

import numpy as np

from darc.engine.outcome import most_calls
from darc.parts.scorers.pair_judge import number_of_pairs
from darc.types import Scores


def count_calls(scores: Scores) -> int:
    """How many texts were scored, or calls for grades made."""
    if scores.orders or scores.compared:
        has_graded = ~np.isnan(scores.values[0]).all(axis=0)
        for _, rater in scores.failed:
            has_graded[rater] = True
        calls = 1
        if scores.compared:
            calls = 2 * number_of_pairs(scores.values.shape[1])
        return int(has_graded.sum()) * scores.repeats * calls
    if scores.grades is not None:
        return int((~np.isnan(scores.grades[0])).sum()) + len(scores.failed)
    was_asked = ~np.isnan(scores.values[0])
    for place in scores.failed:
        was_asked[place] = True
    return int(was_asked.sum())


def calls_saved(scores: Scores) -> int:
    """How many calls for the grades of a panel were not needed; 0 for the scores of rewrites."""
    if scores.sample != "rater":
        return 0
    return max(0, most_calls(scores) - count_calls(scores))
