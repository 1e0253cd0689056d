"""What moves when one setting moves: knobs of rules, and smaller pools."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from darc.analysis.evaluate.contest import (
    Contest,
    ContestSettings,
    contest_of,
    lambda_row,
    settled_lambdas,
)
from darc.analysis.evaluate.methods import BASELINE, methods
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.report.rule_tables import (
    compared,
    compared_tail,
    outcomes,
    rows_of,
)
from darc.decide.method import parse_methods
from darc.ratings.joining import JoinedRatings
from darc.ratings.ratings import Halves, Ratings

LEVELS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
HELD_OUT = "the half held out"


Sweep = dict[str, tuple[str, str, float | None]]  # rule, knob and setting, by how it is written


def swept(rule: str, knob: str, settings: Iterable[float]) -> Sweep:
    """A rule with each setting of one of its knobs."""
    return {f"{rule}:{knob}={setting:g}": (rule, knob, setting) for setting in settings}


ABLATIONS = swept("epsilon", "beta", LEVELS) | swept("epsilon", "epsilon", LEVELS)
FRONTIER = {
    **ABLATIONS,
    **swept("entropic", "beta", LEVELS),
    **swept("tau", "quantile", SHARES),
    **swept("penalty", "lam", LEVELS),
    **swept("lcb", "lam", LEVELS),
    **swept("cvar", "alpha", SHARES),
}


def sweep_contest(
    source: Ratings, halves: Iterable[Halves], settings: ContestSettings, sweep: Sweep
) -> Contest:
    """One contest whose methods are all settings of a sweep."""
    specs = parse_methods([BASELINE, *sweep], beta=settings.beta, gamma=settings.gamma)
    return contest_of(source, halves, settings, specs, source.split_unit(settings.split))


def frontier_table(contest: Contest) -> Frame:
    """Reward and risk of every setting, and of Best-of-K."""
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns = outcomes(contest, among)
        for at, label in enumerate(contest.methods):
            rule, knob, setting = FRONTIER.get(label, (BASELINE, "", None))
            head: Record = {"source": contest.ratings.name, "method": rule, "knob": knob}
            head |= {"setting": setting, "subset": subset}
            rows.append(head | {name: column[at] for name, column in columns.items()})
    return table("frontier", rows)


def ablation_table(contest: Contest, sweep: Sweep = ABLATIONS) -> Frame:
    """Gains of every setting over Best-of-K, with 95 % intervals."""
    places = [a for a, label in enumerate(contest.methods) if label in (BASELINE, *sweep)]
    rows = _rows(contest.only(places), "", 0, HELD_OUT)
    for row in rows:
        row["method"], row["knob"], row["setting"] = sweep[row["method"]]
    return table("ablations", rows, note="")


RULES = ("entropic", "epsilon")
MOST = 6


def fewer_candidates(halves: Halves, size: int, seed: int) -> Halves:
    """The halves with a random `size` of each prompt's candidates, chosen without their scores."""
    there = ~np.isnan(halves.select.samples).all(axis=(1, 3))
    keys = np.random.default_rng([seed, size, 1]).random(there.shape)
    order = np.argsort(np.where(there, keys, np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    gone = (place >= size)[:, None, :, None]
    return replace(
        halves,
        select=replace(halves.select, samples=np.where(gone, np.nan, halves.select.samples)),
        judge=replace(halves.judge, samples=np.where(gone, np.nan, halves.judge.samples)),
    )


def fewer_samples(halves: Halves, size: int, seed: int) -> Halves:
    """The halves with at most `size` samples to select by, of the same places in a prompt."""
    prompts, _, _, most = halves.select.shape
    order = np.argsort(np.random.default_rng([seed, 2]).random((prompts, most)), axis=1)
    given = ~np.isnan(np.take_along_axis(halves.select.samples, order[:, None, None, :], axis=3))
    # Of the samples in the drawn order, the first ones that there are.
    chosen = np.argsort(~given, axis=3, kind="stable")[..., :size]
    place = np.take_along_axis(np.broadcast_to(order[:, None, None, :], given.shape), chosen, 3)
    select = replace(
        halves.select,
        samples=np.take_along_axis(halves.select.samples, place, axis=3),
        raters=np.take_along_axis(halves.select.raters, place, axis=3),
    )
    return replace(halves, select=select)


def sizes_up_to(most: int, fewest: int) -> list[int]:
    """About six sizes from `fewest` to `most`, roughly doubling."""
    if most <= fewest:
        return [most] if most == fewest else []
    steps = np.geomspace(fewest, most, MOST).round().astype(int)
    return sorted(set(steps.tolist()))


def size_table(source: Ratings, halves: Iterable[Halves], settings: ContestSettings) -> Frame:
    """Gains over Best-of-K of the same pool, as candidates or samples become fewer."""
    samples = max(half.select.shape[3] for half in halves)
    cuts = {
        "K": (sizes_up_to(source.shape[2], 2), fewer_candidates),
        "samples": (sizes_up_to(samples, 1), fewer_samples),
    }
    split, specs = (
        source.split_unit(settings.split),
        methods(RULES, settings.beta, settings.gamma),
    )
    found = np.stack([lambda_row(source, settings, half, split) for half in halves])
    lambdas = settled_lambdas(source, found, split)
    rows: list[Record] = []
    for knob, (sizes, cut) in cuts.items():
        for size in sizes:
            smaller = (cut(half, size, settings.seed + r) for r, half in enumerate(halves))
            contest = contest_of(source, smaller, settings, specs, split, lambdas)
            rows += _rows(contest, knob, size, HELD_OUT)
    return table("ablations", rows, note="")


def budget_table(
    source: Ratings,
    settings: ContestSettings,
    halves: Halves | None = None,
    judge: str = "people",
) -> Frame:
    """Gains over Best-of-K by the original and its first N_aug rewrites, from none to all of them.

    `halves` are proxy scores and the ratings of a `judge`. Without them each scorer of several
    judges what the others select; one scorer alone judges with all of its samples, though they
    select too.
    """
    cases: list[tuple[Ratings, Halves, str]] = []
    words = WORDS["tables"]["ablations"]
    note = words["n_aug"]
    if halves is not None:
        cases.append((source, halves, judge))
    elif len(source.scorers) == 1:
        there = ~np.isnan(source.samples)
        cases.append((source, source.halves_of(there, there), "the samples that select"))
        note += words["alone"].format(source=source.name)
    else:
        for m, name in enumerate(source.scorers):
            others = source.with_scorers([o for o in range(len(source.scorers)) if o != m])
            pair = JoinedRatings(others, source.with_scorers([m]), (0, 0)).halves
            cases.append((others, pair, f"scorer {name}, which does not select"))
    specs = methods(RULES, settings.beta, settings.gamma)
    rows: list[Record] = []
    for proxy, pair, by in cases:
        for size in [0, *sizes_up_to(proxy.shape[3] - 1, 1)]:
            select = replace(
                pair.select,
                samples=np.ascontiguousarray(pair.select.samples[..., : size + 1]),
                raters=pair.select.raters[..., : size + 1],
            )
            usable = pair.usable & select.present.any(axis=(1, 2, 3))
            fewer = replace(pair, select=select, usable=usable)
            contest = contest_of(proxy, [fewer], settings, specs, "joined")
            rows += _rows(contest, "n_aug", size, by)
    return table("ablations", rows, note=note)


def _rows(contest: Contest, knob: str, setting: float, by: str) -> list[Record]:
    """The gains of all rules on all subsets, for one setting of a knob and one judge."""
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns = compared(contest, contest.tradeoff, among, "tradeoff")
        columns |= compared_tail(contest, among)
        head = {"knob": knob, "setting": setting, "subset": subset, "judged_by": by}
        rows += rows_of(contest, among, columns, 1, **head)
    return rows
