"""How far two scorers agree on which prompts have good outcomes."""

from itertools import combinations

import numpy as np

from darc.analysis import ranks
from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.typing import Array, Mask

# The share of the prompts with the best outcomes whose overlap is measured, as in the paper.
TOP_SHARE = 0.2
# With fewer prompts nothing is measured.
MIN_PROMPTS = 4


def scorer_agreement_table(contest: Contest) -> Frame:
    """Spearman, Kendall and top-share overlap of per-prompt outcomes, for each pair of scorers.

    The outcome of a prompt is the held-out mean of a method's choice by one scorer, averaged over
    the splits in which the prompt has one.
    """
    rows: list[Record] = []
    scorers = contest.ratings.scorers
    for subset, among in contest.subsets.items():
        for place, method in enumerate(contest.methods):
            outcomes = _outcomes(contest.rewards[:, place], among)
            for left, right in combinations(range(len(scorers)), 2):
                measures = _agreement(outcomes[left], outcomes[right])
                if measures is not None:
                    row: Record = {
                        "source": contest.ratings.name,
                        "subset": subset,
                        "method": method,
                        "scorer": scorers[left],
                        "other_scorer": scorers[right],
                        **measures,
                    }
                    rows.append(row)
    return table("scorer_agreement", rows)


def _outcomes(rewards: Array, among: Mask) -> Array:
    """Outcomes by scorer and prompt (M, P) from rewards (R, M, P); NaN where there is none."""
    counted = np.where(among[:, None], rewards, np.nan)
    is_known = ~np.isnan(counted)
    totals = np.where(is_known, counted, 0.0).sum(axis=0)
    counts = is_known.sum(axis=0)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def _agreement(left: Array, right: Array) -> Record | None:
    """The measures of two scorers' outcomes (P,) and (P,); None for too few prompts."""
    both = ~np.isnan(left) & ~np.isnan(right)
    prompts = int(both.sum())
    if prompts < MIN_PROMPTS:
        return None
    # Rounded, since rounding errors must not order equal outcomes.
    left_outcomes = np.round(left[both], 12)
    right_outcomes = np.round(right[both], 12)
    left_top = ranks.top(left_outcomes, TOP_SHARE)
    right_top = ranks.top(right_outcomes, TOP_SHARE)
    kendall, _ = ranks.kendall(left_outcomes, right_outcomes)
    return {
        "prompts": prompts,
        "spearman": float(ranks.spearman(left_outcomes, right_outcomes)),
        "kendall": kendall,
        f"overlap@{TOP_SHARE:.0%}": int((left_top & right_top).sum()) / int(left_top.sum()),
    }
