"""What changes when one setting changes: a parameter of a rule, or the size of the pools."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.lambdas import settled_lambdas, split_lambdas
from darc.analysis.evaluate.methods import BASELINE, compared_methods
from darc.analysis.evaluate.run_contest import contest_of
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.report.contest_columns import (
    change_columns,
    method_rows,
    outcome_columns,
    tail_change_columns,
)
from darc.decide.method import parse_methods
from darc.ratings.joining import JoinedRatings
from darc.ratings.ratings import Halves, Ratings

_LEVELS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
_HELD_OUT = "the half held out"
# The rules whose gains are measured on smaller pools, and how many sizes there are at most.
_SIZE_RULES = ("entropic", "epsilon")
_MAX_SIZES = 6


@dataclass(frozen=True)
class SweepPoint:
    """A rule with one value of one of its parameters."""

    rule: str
    knob: str
    setting: float | None


#: Points by the text of their method.
Sweep = dict[str, SweepPoint]


def sweep_of(rule: str, knob: str, settings: Iterable[float]) -> Sweep:
    """A rule with each of some values of a parameter."""
    return {f"{rule}:{knob}={setting:g}": SweepPoint(rule, knob, setting) for setting in settings}


ABLATIONS: Sweep = {
    **sweep_of("epsilon", "beta", _LEVELS),
    **sweep_of("epsilon", "epsilon", _LEVELS),
}
FRONTIER: Sweep = {
    **ABLATIONS,
    **sweep_of("entropic", "beta", _LEVELS),
    **sweep_of("tau", "quantile", _SHARES),
    **sweep_of("penalty", "lam", _LEVELS),
    **sweep_of("lcb", "lam", _LEVELS),
    **sweep_of("cvar", "alpha", _SHARES),
}


def sweep_contest(
    ratings: Ratings, halves: Iterable[Halves], settings: ContestSettings, sweep: Sweep
) -> Contest:
    """One contest whose methods are Best-of-K and all points of a sweep."""
    methods = parse_methods([BASELINE, *sweep], beta=settings.beta, gamma=settings.gamma)
    unit = ratings.split_unit(settings.split)
    return contest_of(ratings, halves, settings, methods, unit)


def frontier_table(contest: Contest) -> Frame:
    """Reward and risk of every point of the frontier, and of Best-of-K."""
    baseline = SweepPoint(BASELINE, "", None)
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns = outcome_columns(contest, among)
        for index, text in enumerate(contest.methods):
            point = FRONTIER.get(text, baseline)
            row: Record = {
                "source": contest.ratings.name,
                "method": point.rule,
                "knob": point.knob,
                "setting": point.setting,
                "subset": subset,
            }
            for name, column in columns.items():
                row[name] = column[index]
            rows.append(row)
    return table("frontier", rows)


def ablation_table(contest: Contest, sweep: Sweep = ABLATIONS) -> Frame:
    """Gains of every point of a sweep over Best-of-K, with 95 % intervals."""
    texts = {BASELINE, *sweep}
    methods = [index for index, text in enumerate(contest.methods) if text in texts]
    rows = _gain_rows(contest.only(methods), "", 0, _HELD_OUT)
    for row in rows:
        point = sweep[row["method"]]
        row["method"] = point.rule
        row["knob"] = point.knob
        row["setting"] = point.setting
    return table("ablations", rows, note="")


def fewer_candidates(halves: Halves, size: int, seed: int) -> Halves:
    """Take a random `size` of each prompt's candidates, chosen without their scores."""
    present = halves.select.present.any(axis=(1, 3))
    keys = np.random.default_rng([seed, size, 1]).random(present.shape)
    order = np.argsort(np.where(present, keys, np.inf), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    removed = (rank >= size)[:, None, :, None]

    def without_removed(ratings: Ratings) -> Ratings:
        return replace(ratings, samples=np.where(removed, np.nan, ratings.samples))

    return replace(
        halves, select=without_removed(halves.select), judge=without_removed(halves.judge)
    )


def fewer_samples(halves: Halves, size: int, seed: int) -> Halves:
    """Take at most `size` samples to select by, at the same places for all candidates."""
    select = halves.select
    prompts, _, _, samples = select.shape
    order = np.argsort(np.random.default_rng([seed, 2]).random((prompts, samples)), axis=1)
    order = np.broadcast_to(order[:, None, None, :], select.samples.shape)
    present = np.take_along_axis(select.present, order, axis=3)
    # Of the samples in the drawn order, the first ones that exist.
    chosen = np.argsort(~present, axis=3, kind="stable")[..., :size]
    places = np.take_along_axis(order, chosen, axis=3)
    fewer = replace(
        select,
        samples=np.take_along_axis(select.samples, places, axis=3),
        raters=np.take_along_axis(select.raters, places, axis=3),
    )
    return replace(halves, select=fewer)


def sizes_between(fewest: int, most: int) -> list[int]:
    """About six sizes from `fewest` to `most`, roughly doubling; none where most is less."""
    if most < fewest:
        return []
    if most == fewest:
        return [most]
    steps = np.geomspace(fewest, most, _MAX_SIZES).round().astype(int)
    return sorted(set(steps.tolist()))


def size_table(ratings: Ratings, halves: Iterable[Halves], settings: ContestSettings) -> Frame:
    """Gains over Best-of-K of the same pool, as candidates or samples become fewer.

    Args:
        ratings: The ratings.
        halves: The halves of each split; they are iterated over several times.
        settings: How the evaluation is made.
    """
    candidates = ratings.shape[2]
    samples = max(split.select.shape[3] for split in halves)
    unit = ratings.split_unit(settings.split)
    methods = compared_methods(_SIZE_RULES, settings.beta, settings.gamma)
    by_split = np.stack([split_lambdas(ratings, settings, split, unit) for split in halves])
    lambdas = settled_lambdas(ratings, by_split, unit)
    rows: list[Record] = []

    def add_rows(
        knob: str, sizes: Iterable[int], shrink: Callable[[Halves, int, int], Halves]
    ) -> None:
        for size in sizes:
            smaller = (
                shrink(split, size, settings.seed + repeat) for repeat, split in enumerate(halves)
            )
            contest = contest_of(ratings, smaller, settings, methods, unit, lambdas)
            rows.extend(_gain_rows(contest, knob, size, _HELD_OUT))

    add_rows("K", sizes_between(2, candidates), fewer_candidates)
    add_rows("samples", sizes_between(1, samples), fewer_samples)
    return table("ablations", rows, note="")


@dataclass(frozen=True, eq=False)
class _BudgetCase:
    """Proxy scores and who judges what they select."""

    proxy: Ratings
    halves: Halves
    judge: str


def budget_table(
    ratings: Ratings,
    settings: ContestSettings,
    halves: Halves | None = None,
    judge: str = "people",
) -> Frame:
    """Gains over Best-of-K by the original and its first N_aug rewrites, from none to all of them.

    Args:
        ratings: The scores of a run.
        settings: How the evaluation is made.
        halves: The run's scores and the ratings of a judge. Without them each scorer of several
            judges what the others select; one scorer alone judges with all of its samples, though
            they select too.
        judge: What the table calls the judge of the halves.
    """
    words = WORDS["tables"]["ablations"]
    note = words["n_aug"]
    if halves is not None:
        cases = [_BudgetCase(ratings, halves, judge)]
    elif len(ratings.scorers) == 1:
        same = ratings.halves_of(ratings.present, ratings.present)
        cases = [_BudgetCase(ratings, same, "the samples that select")]
        note += words["alone"].format(source=ratings.name)
    else:
        cases = [_scorer_case(ratings, scorer) for scorer in range(len(ratings.scorers))]
    methods = compared_methods(_SIZE_RULES, settings.beta, settings.gamma)
    rows: list[Record] = []
    for case in cases:
        for rewrites in [0, *sizes_between(1, case.proxy.shape[3] - 1)]:
            fewer = _first_rewrites(case.halves, rewrites)
            contest = contest_of(case.proxy, [fewer], settings, methods, "joined")
            rows += _gain_rows(contest, "n_aug", rewrites, case.judge)
    return table("ablations", rows, note=note)


def _scorer_case(ratings: Ratings, scorer: int) -> _BudgetCase:
    """All scorers but one select, and that one judges."""
    scorers = range(len(ratings.scorers))
    others = ratings.with_scorers([other for other in scorers if other != scorer])
    pair = JoinedRatings(others, ratings.with_scorers([scorer]))
    name = ratings.scorers[scorer]
    return _BudgetCase(others, pair.halves, f"scorer {name}, which does not select")


def _first_rewrites(halves: Halves, rewrites: int) -> Halves:
    """The halves with the original and its first rewrites to select by."""
    select = replace(
        halves.select,
        samples=np.ascontiguousarray(halves.select.samples[..., : rewrites + 1]),
        raters=halves.select.raters[..., : rewrites + 1],
    )
    usable = halves.usable & select.present.any(axis=(1, 2, 3))
    return replace(halves, select=select, usable=usable)


def _gain_rows(contest: Contest, knob: str, setting: float, judge: str) -> list[Record]:
    """The gains of all rules on all subsets, for one setting of a knob and one judge."""
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns = change_columns(contest, contest.tradeoff, among, "tradeoff")
        columns |= tail_change_columns(contest, among)
        head = {"knob": knob, "setting": setting, "subset": subset, "judged_by": judge}
        rows += method_rows(contest, among, columns, 1, **head)
    return rows
