"""Short phrases about one answer of a decision, for tables and pictures."""

from collections.abc import Sequence

import numpy as np

from darc.decide.decision import Decision
from darc.decide.explanation import join_words
from darc.decide.opinions import AnswerOpinions

# More names of unhappy raters than this are not written out.
MAX_NAMES = 6


def unhappy_phrase(answer: AnswerOpinions, known_scale: bool, *, names: bool = True) -> str:
    """How many people are unhappy with an answer, such as "3 of 8 unhappy: ann, bo and cy".

    Args:
        answer: What people think of the answer.
        known_scale: Whether the scale is known. If not, people are not called unhappy: they rate
            the answer clearly lower.
        names: Whether to name the unhappy raters if their names are known.

    Returns:
        The phrase.
    """
    phrase = _unhappy_count(answer, known_scale)
    # If all are unhappy, their names add nothing.
    some_unhappy = 0 < answer.unhappy < answer.count
    if names and some_unhappy and answer.unhappy_raters:
        return f"{phrase}: {_list_names(answer.unhappy_raters)}"
    return phrase


def _unhappy_count(answer: AnswerOpinions, known_scale: bool) -> str:
    if known_scale:
        if not answer.unhappy:
            return "nobody unhappy"
        return f"{answer.unhappy} of {answer.count} unhappy"
    if not answer.unhappy:
        return "nobody rates it clearly lower"
    if answer.unhappy == 1:
        return f"1 of {answer.count} rates it clearly lower"
    return f"{answer.unhappy} of {answer.count} rate it clearly lower"


def _list_names(names: Sequence[str]) -> str:
    """The names in a row, the first few if there are many."""
    if len(names) <= MAX_NAMES:
        return join_words(names)
    first = names[: MAX_NAMES - 1]
    return join_words([*first, f"{len(names) - len(first)} others"])


def incomplete_phrase(decision: Decision, index: int) -> str:
    """Why a candidate lacks some of its samples, such as "ruled out early, after 3 of 8 ratings".

    Args:
        decision: The decision.
        index: The candidate.

    Returns:
        The phrase, empty for a candidate that has all of its samples.
    """
    if decision.bounded is None or not decision.bounded[index]:
        return ""
    noun = "ratings"
    if decision.opinions is None:
        noun = "scores"
    seen, total = _count_samples(decision, index)
    if "unfinished" in decision.flags:
        return f"{seen} of {total} {noun} so far"
    if decision.is_likely:
        return f"unlikely to win, after {seen} of {total} {noun}"
    return f"ruled out early, after {seen} of {total} {noun}"


def _count_samples(decision: Decision, index: int) -> tuple[int, int]:
    """How many samples of a candidate were seen, and how many there are."""
    exists = ~np.isnan(decision.pools.samples[0, :, index]).all(axis=0)
    if decision.unseen is None:
        return int(exists.sum()), decision.pools.shape[3]
    unseen = decision.unseen[index]
    return int((exists & ~unseen).sum()), int((exists | unseen).sum())
