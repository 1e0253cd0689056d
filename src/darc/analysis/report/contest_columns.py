"""The columns and rows that tables of a contest share: one cell per method."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from darc.analysis.bootstrap import average, estimate, over_splits, tail
from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import WORDS, Record
from darc.typing import Array, Mask

# One cell per method, (A,), by the name of the column.
Columns = Mapping[str, Any]


def method_rows(
    contest: Contest, among: Mask, columns: Columns, first: int = 0, **head: object
) -> list[Record]:
    """Make one row per method.

    Args:
        contest: The contest.
        among: The prompts of each split (R, P) that the columns are about.
        columns: The cells (A,) of each column.
        first: The first method that gets a row.
        **head: Cells that come before the method's name, the same in all rows.

    Returns:
        The rows.
    """
    rows = []
    for place, method in enumerate(contest.methods[first:], first):
        row: Record = {"source": contest.ratings.name, **head, "method": method}
        row["prompts"] = count_prompts(among)
        for name, cells in columns.items():
            row[name] = cells[place]
        rows.append(row)
    return rows


def count_prompts(among: Mask) -> float:
    """The number of prompts in a subset (R, P), averaged over the splits that have any."""
    sizes = among.sum(axis=1)
    if not (sizes > 0).any():
        return 0.0
    return float(sizes[sizes > 0].mean())


def mean_over_prompts(values: Array, among: Mask) -> Array:
    """The mean (A,) of values (R, A, P) over prompts, then over splits."""
    every_prompt_once = np.ones((1, values.shape[2]))
    return np.asarray(over_splits(average(values, among, every_prompt_once))[0])


def outcome_columns(contest: Contest, among: Mask) -> dict[str, Array]:
    """Reward, risk, tradeoff and CVaR over prompts of each method.

    Args:
        contest: The contest.
        among: The prompts of each split (R, P).

    Returns:
        One column (A,) for each, by name.
    """
    every_prompt_once = np.ones((1, among.shape[1]))
    worst = tail(contest.outcome, among, every_prompt_once, contest.settings.tail)
    return {
        "reward": mean_over_prompts(contest.reward, among),
        "risk": mean_over_prompts(contest.risk, among),
        "tradeoff": mean_over_prompts(contest.tradeoff, among),
        "cvar": over_splits(worst)[0],
    }


def change_columns(
    contest: Contest, values: Array, among: Mask, name: str = ""
) -> dict[str, Array]:
    """The change of values against Best-of-K, paired by prompt, with its 95 % interval.

    Args:
        contest: The contest.
        values: Values (R, A, P).
        among: The prompts of each split (R, P).
        name: What the values are, a part of the columns' names.

    Returns:
        The change and both ends of its interval, each (A,).
    """
    difference = values - values[:, :1]
    return _interval_columns(contest, name, lambda counts: average(difference, among, counts))


def tail_change_columns(contest: Contest, among: Mask) -> dict[str, Array]:
    """The change of the CVaR over prompts, each resample comparing the same prompts.

    Args:
        contest: The contest.
        among: The prompts of each split (R, P).

    Returns:
        The change and both ends of its interval, each (A,).
    """

    def difference(counts: Array) -> Array:
        worst = tail(contest.outcome, among, counts, contest.settings.tail)
        return worst - worst[:, :, :1]

    return _interval_columns(contest, contest.settings.tail_name, difference)


def worst_group_columns(contest: Contest, among: Mask) -> dict[str, Array]:
    """The mean over prompts of the group of raters that likes the choice least, and its change.

    Of each prompt those groups count that judged the choice of every method.

    Args:
        contest: The contest.
        among: The prompts of each split (R, P).

    Returns:
        The mean, the change and both ends of its interval, each (A,); nothing without groups.
    """
    if contest.by_group is None:
        return {}
    judged_all = ~np.isnan(contest.by_group).any(axis=1, keepdims=True)
    lowest = np.fmin.reduce(np.where(judged_all, contest.by_group, np.nan), axis=2)
    return {
        "worst_group": mean_over_prompts(lowest, among),
        **change_columns(contest, lowest, among, "worst_group"),
    }


def _interval_columns(
    contest: Contest, name: str, statistic: Callable[[Array], Array]
) -> dict[str, Array]:
    delta, (low, high) = estimate(statistic, contest.counts)
    columns = {
        f"delta_{name}" if name else "delta": delta,
        f"low_{name or 'delta'}": low,
        f"high_{name or 'delta'}": high,
    }
    # What the order of summation leaves of a zero is not a difference.
    return {column: np.round(cells, 12) + 0.0 for column, cells in columns.items()}


def win_columns(signs: Array, among: Mask) -> dict[str, Array]:
    """Wins, ties and losses of each method, averaged over splits.

    Args:
        signs: 1, 0 or -1 for each split, method and prompt (R, A, P).
        among: The prompts of each split (R, P).

    Returns:
        The columns "win", "tie" and "loss", each (A,).
    """
    splits = np.maximum(among.any(axis=1).sum(), 1)

    def count(sign: int) -> Array:
        return (among[:, None, :] & (signs == sign)).sum(axis=(0, 2)) / splits

    return {"win": count(1), "tie": count(0), "loss": count(-1)}


def win_and_change_columns(contest: Contest, values: Array, among: Mask) -> dict[str, Any]:
    """Win, tie and loss by values (R, A, P), and their mean change against Best-of-K."""
    signs = contest.against(values)
    return win_columns(signs, among) | change_columns(contest, values, among)


def describe_contest(contest: Contest) -> str:
    """How the numbers of a contest came about, in sentences."""
    words = WORDS["described"]
    form = "joined" if contest.split == "joined" else "halves"
    text = words[form] + words["tradeoff"]
    if any(name.startswith("hedgetune") and "rate=" not in name for name in contest.methods):
        text += words["hedgetune"]
    scorers = contest.rewards.shape[2]
    if scorers > 1:
        text += words["scorers"]
    matched = ""
    if contest.settings.lam is None:
        matched = words[f"matched_{form}"]
    return str(text).format(
        source=contest.ratings.name,
        split=WORDS["splits"].get(contest.split),
        splits=len(contest.usable),
        lam=contest.lam,
        matched=matched,
        sigma=contest.settings.sigma,
        scorers=scorers,
    )
