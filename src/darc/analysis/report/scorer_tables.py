"""What single scorers say of choices that all scorers made, or all others."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.run_contest import Splits, contest_of
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.frame import Frame, Record, table
from darc.analysis.report.contest_columns import method_rows, win_and_change_columns
from darc.ratings.ratings import Halves, Ratings
from darc.typing import Array


def scorer_table(contest: Contest) -> Frame:
    """Win, tie, loss and mean change by each aggregate and scorer; empty for one scorer."""
    judgements: dict[str, Array] = {}
    if contest.rewards.shape[2] > 1:
        aggregates = aggregate_changes(contest.rewards, contest.scales, contest.settings.gamma)
        for name, changes in aggregates.items():
            judgements[f"all: {name}"] = changes
        for place, scorer in enumerate(contest.ratings.scorers):
            judgements[scorer] = contest.rewards[:, :, place]
    return table("scorers", _scorer_rows(contest, judgements))


def aggregate_changes(rewards: Array, scales: Array, gamma: float) -> dict[str, Array]:
    """Changes against Best-of-K, aggregated over all scorers.

    Args:
        rewards: Rewards (R, A, M, P) on the scorers' raw scales.
        scales: What makes the scorers comparable (R, M).
        gamma: The weight of the standard deviation (ddof = 0) over the scorers.

    Returns:
        The changes (R, A, P) by the name of the aggregate.
    """
    changes = (rewards - rewards[:, :1]) / scales[:, None, :, None]
    mean = changes.mean(axis=2)
    hedged = mean - gamma * changes.std(axis=2)
    return {"mean": mean, "min": changes.min(axis=2), f"mean - {gamma:g} std": hedged}


def held_out_scorer_table(ratings: Ratings, settings: ContestSettings) -> Frame:
    """Selection by all scorers but one, judged by that one, on its raw scale."""
    rows: list[Record] = []
    scorers = range(len(ratings.scorers))
    if len(scorers) > 1:
        for judge in scorers:
            others = [scorer for scorer in scorers if scorer != judge]
            halves = _halves_by_scorer(ratings, settings, others, judge)
            contest = contest_of(
                ratings.with_scorers(others), halves, settings, settings.methods, "sample"
            )
            rows += _scorer_rows(contest, {ratings.scorers[judge]: contest.reward})
    return table("held_out_scorers", rows)


def _halves_by_scorer(
    ratings: Ratings, settings: ContestSettings, others: list[int], judge: int
) -> Iterator[Halves]:
    """The halves of each split, with the other scorers selecting and one scorer judging."""
    for half in Splits(ratings, settings):
        yield replace(
            half,
            select=half.select.with_scorers(others),
            judge=half.judge.with_scorers([judge]),
        )


def _scorer_rows(contest: Contest, judgements: Mapping[str, Array]) -> list[Record]:
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        for scorer, values in judgements.items():
            columns = win_and_change_columns(contest, values, among)
            rows += method_rows(contest, among, columns, 1, subset=subset, scorer=scorer)
    return rows
