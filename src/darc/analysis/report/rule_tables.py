"""The tables that compare rules: what their choices are worth beside Best-of-K's."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.analysis.ranks import spearman
from darc.analysis.report.contest_columns import (
    change_columns,
    describe_contest,
    mean_over_prompts,
    method_rows,
    outcome_columns,
    tail_change_columns,
    win_and_change_columns,
    win_columns,
    worst_group_columns,
)
from darc.decide.statistics import risk
from darc.typing import Array, Mask

# The multiples of lambda by which tradeoffs are ranked, and the paper's own lambdas: for rewards
# and sigmas as they are, and for z-scored ones.
LAMBDA_FACTORS = (0.5, 1.0, 2.0)
RAW_LAMBDA = 5.0
Z_SCORED_LAMBDA = 3.0


def main_table(contest: Contest) -> Frame:
    """Means over prompts and splits; win, tie and loss are prompts against Best-of-K."""
    ratings = contest.ratings
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns: dict[str, Any] = outcome_columns(contest, among)
        del columns["cvar"]
        columns["length"] = mean_over_prompts(contest.length, among)
        columns["length_unit"] = [ratings.length_unit] * len(contest.methods)
        columns |= win_columns(contest.against(contest.reward), among)
        rows += method_rows(contest, among, columns, generator=ratings.generator, subset=subset)
    return table("main", rows, described=describe_contest(contest))


def human_table(contest: Contest) -> Frame:
    """Each metric, its change against Best-of-K, and the change's 95 % bootstrap interval."""
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        outcomes = outcome_columns(contest, among)
        columns = {
            "mean": outcomes["reward"],
            "sigma": outcomes["risk"],
            "tradeoff": outcomes["tradeoff"],
            contest.settings.tail_name: outcomes["cvar"],
            **change_columns(contest, contest.reward, among, "mean"),
            **change_columns(contest, contest.risk, among, "sigma"),
            **change_columns(contest, contest.tradeoff, among, "tradeoff"),
            **tail_change_columns(contest, among),
            **worst_group_columns(contest, among),
        }
        rows += method_rows(contest, among, columns, subset=subset)
    return table("human", rows, described=describe_contest(contest), **dict(contest.settings))


def scalarisation_table(contest: Contest) -> Frame:
    """Absolute ratings (S0) and pairwise contests (S1): wins, changes, and their correlation."""
    absolute = contest.reward - contest.reward[:, :1]
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        correlations = [
            split_spearman(absolute[:, place], contest.pairwise[:, place], among)
            for place in range(len(contest.methods))
        ]
        for form, values in (("S0", absolute), ("S1", contest.pairwise)):
            judged = among & ~np.isnan(values).all(axis=1)
            columns = win_and_change_columns(contest, values, judged)
            columns["spearman"] = correlations
            rows += method_rows(contest, judged, columns, 1, subset=subset, form=form)
    return table("scalarisation", rows, described=describe_contest(contest))


def split_spearman(left: Array, right: Array, among: Mask) -> float:
    """Spearman's correlation within each split, averaged over the splits that have one.

    Args:
        left: Values (R, P).
        right: Values (R, P).
        among: The prompts of each split (R, P).

    Returns:
        The correlation, NaN if no split has more than two prompts.
    """
    correlations = []
    for x, y, mask in zip(left, right, among, strict=True):
        both = mask & ~np.isnan(x) & ~np.isnan(y)
        if both.sum() > 2:
            # Rounded, since rounding errors must not order equal differences.
            value = float(spearman(np.round(x[both], 12), np.round(y[both], 12)))
            if not np.isnan(value):
                correlations.append(value)
    if not correlations:
        return float("nan")
    return float(np.mean(correlations))


@dataclass(frozen=True, eq=False)
class _TradeoffForm:
    """One way to weigh reward against sigma."""

    name: str
    #: The multiple of the contest's lambda, None for a lambda of its own.
    factor: float | None
    lam: float
    #: The tradeoffs (R, A, P).
    values: Array


def sensitivity_table(contest: Contest) -> Frame:
    """Tradeoff and rank (1 is best, equals share the better rank) as lambda changes."""
    rows: list[Record] = []
    forms = _tradeoff_forms(contest)
    for subset, among in contest.subsets.items():
        for form in forms:
            tradeoffs = np.round(mean_over_prompts(form.values, among), 12) + 0.0
            for method, tradeoff in zip(contest.methods, tradeoffs, strict=True):
                rank = None
                if not np.isnan(tradeoff):
                    rank = 1 + int((tradeoffs > tradeoff).sum())
                row: Record = {
                    "source": contest.ratings.name,
                    "subset": subset,
                    "method": method,
                    "form": form.name,
                    "factor": form.factor,
                    "lambda": form.lam,
                    "tradeoff": tradeoff,
                    "rank": rank,
                }
                rows.append(row)
    return table("sensitivity", rows)


def _tradeoff_forms(contest: Contest) -> list[_TradeoffForm]:
    forms = [
        _TradeoffForm("raw", factor, factor * contest.lam, contest.weighed(factor))
        for factor in LAMBDA_FACTORS
    ]
    raw = contest.reward - RAW_LAMBDA * contest.risk
    forms.append(_TradeoffForm("raw", None, RAW_LAMBDA, raw))
    z_scored = _z_scored(contest.reward) - Z_SCORED_LAMBDA * _z_scored(contest.risk)
    forms.append(_TradeoffForm("z-scored", None, Z_SCORED_LAMBDA, z_scored))
    return forms


def _z_scored(values: Array) -> Array:
    """Values (R, A, P) in deviations of Best-of-K's over the prompts, less its mean."""
    location = risk.mean(values[:, 0])
    scale = np.nan_to_num(risk.sigma(values[:, 0]))
    scale = np.where(scale > 0, scale, 1.0)
    return (values - location[:, None, None]) / scale[:, None, None]
