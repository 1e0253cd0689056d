"""What moves when one setting moves: knobs of rules, and smaller pools."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from darc.engine.deciding import parse_rules
from darc.evaluation.contest import (
    Contest,
    ContestSettings,
    contest_of,
    lambda_row,
    settled_lambdas,
)
from darc.evaluation.frame import Frame, Record, table
from darc.evaluation.methods import BASELINE, methods
from darc.evaluation.rule_tables import compared, compared_tail, outcomes, rows_of, with_scorers
from darc.evaluation.source import Source
from darc.evaluation.split import Halves, Joined, choose_split, halves_of
from darc.typing import Array

LEVELS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
HELD_OUT = "the half held out"


class Sweep(NamedTuple):
    """The settings of one knob of one rule."""

    rule: str
    knob: str
    settings: tuple[float, ...]

    def label(self, setting: float) -> str:
        """How the rule with this setting is written."""
        return f"{self.rule}:{self.knob}={setting:g}"


ABLATIONS = (Sweep("epsilon", "beta", LEVELS), Sweep("epsilon", "epsilon", LEVELS))
FRONTIER = (
    *ABLATIONS,
    Sweep("entropic", "beta", LEVELS),
    Sweep("tau", "quantile", SHARES),
    Sweep("penalty", "lam", LEVELS),
    Sweep("lcb", "lam", LEVELS),
    Sweep("cvar", "alpha", SHARES),
)


def sweep_contest(
    source: Source, halves: Iterable[Halves], settings: ContestSettings, sweeps: Sequence[Sweep]
) -> Contest:
    """One contest whose methods are all settings of all sweeps."""
    labels = [sweep.label(setting) for sweep in sweeps for setting in sweep.settings]
    specs = parse_rules([BASELINE, *dict.fromkeys(labels)], {}, settings.beta, settings.gamma)
    return contest_of(source, halves, settings, specs, choose_split(source, settings.split))


def frontier_table(contest: Contest, sweeps: Sequence[Sweep] = FRONTIER) -> Frame:
    """Reward and risk of every setting, and of Best-of-K."""
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns = outcomes(contest, among)
        for at, (rule, knob, setting) in _places(contest, sweeps):
            head: Record = {"source": contest.source.name, "method": rule, "knob": knob}
            head |= {"setting": setting, "subset": subset}
            rows.append(head | {name: column[at] for name, column in columns.items()})
    return table("frontier", rows)


def ablation_table(contest: Contest, sweeps: Sequence[Sweep] = ABLATIONS) -> Frame:
    """Gains of every setting over Best-of-K, with 95 % intervals."""
    places, names = zip(*_places(contest, sweeps), strict=True)
    rows = _rows(contest.only(places), "", 0, HELD_OUT)
    for row, (rule, knob, setting) in zip(rows, cycle(names[1:]), strict=False):
        row |= {"knob": knob, "setting": setting, "method": rule}
    return table("ablations", rows, note="")


def _places(contest: Contest, sweeps: Sequence[Sweep]) -> list[tuple[int, tuple[Any, ...]]]:
    """The place, and rule, knob and setting, of every setting that was run, Best-of-K first."""
    return [(0, (BASELINE, "", None))] + [
        (contest.methods.index(sweep.label(setting)), (sweep.rule, sweep.knob, setting))
        for sweep in sweeps
        for setting in sweep.settings
        if sweep.label(setting) in contest.methods
    ]


RULES = ("entropic", "epsilon")
MOST = 6


def fewer_candidates(halves: Halves, size: int, seed: int) -> Halves:
    """The halves with a random `size` of each prompt's candidates, chosen without their scores."""
    there = ~np.isnan(halves.select).all(axis=(1, 3))
    keys = np.random.default_rng([seed, size, 1]).random(there.shape)
    order = np.argsort(np.where(there, keys, np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    gone = (place >= size)[:, None, :, None]
    return replace(
        halves,
        select=np.where(gone, np.nan, halves.select),
        judge=np.where(gone, np.nan, halves.judge),
    )


def fewer_samples(halves: Halves, size: int, seed: int) -> Halves:
    """The halves with at most `size` samples to select by, of the same places in a prompt."""
    prompts, _, _, most = halves.select.shape
    order = np.argsort(np.random.default_rng([seed, 2]).random((prompts, most)), axis=1)
    given = ~np.isnan(np.take_along_axis(halves.select, order[:, None, None, :], axis=3))
    # Of the samples in the drawn order, the first ones that there are.
    chosen = np.argsort(~given, axis=3, kind="stable")[..., :size]
    place = np.take_along_axis(np.broadcast_to(order[:, None, None, :], given.shape), chosen, 3)
    return replace(
        halves,
        select=np.take_along_axis(halves.select, place, axis=3),
        select_givers=np.take_along_axis(halves.select_givers, place, axis=3),
    )


def sizes_up_to(most: int, fewest: int) -> list[int]:
    """About six sizes from `fewest` to `most`, roughly doubling."""
    if most <= fewest:
        return [most] if most == fewest else []
    steps = np.geomspace(fewest, most, MOST).round().astype(int)
    return sorted(set(steps.tolist()))


def size_table(source: Source, halves: Iterable[Halves], settings: ContestSettings) -> Frame:
    """Gains over Best-of-K of the same pool, as candidates or samples become fewer."""
    samples = max(half.select.shape[3] for half in halves)
    cuts = {
        "K": (sizes_up_to(source.shape[2], 2), fewer_candidates),
        "samples": (sizes_up_to(samples, 1), fewer_samples),
    }
    split = choose_split(source, settings.split)
    found = np.stack([lambda_row(source, settings, half, split) for half in halves])
    lambdas = settled_lambdas(source, found, split)
    rows: list[Record] = []
    for knob, (sizes, cut) in cuts.items():
        for size in sizes:
            smaller = (cut(half, size, settings.seed + r) for r, half in enumerate(halves))
            rows += _gains(source, smaller, settings, split, (knob, size, HELD_OUT), lambdas)
    return table("ablations", rows, note="")


def budget_table(
    source: Source,
    settings: ContestSettings,
    halves: Halves | None = None,
    judge: str = "people",
) -> Frame:
    """Gains over Best-of-K by the original and its first N_aug rewrites, from none to all of them.

    `halves` are proxy scores and the ratings of a `judge`. Without them each scorer of several
    judges what the others select; one scorer alone judges with all of its samples, though they
    select too.
    """
    cases: list[tuple[Source, Halves, str]] = []
    note = "n_aug: the original and its first n_aug rewrites select, all that there are at the end."
    if halves is not None:
        cases.append((source, halves, judge))
    elif len(source.scorers) == 1:
        there = ~np.isnan(source.samples)
        cases.append((source, halves_of(source, there, there), "the samples that select"))
        note += (
            f" {source.name} has one scorer, whose samples judge although they select as well: such"
            " gains are partly luck, the more so the more rewrites select."
        )
    else:
        for m, name in enumerate(source.scorers):
            others = with_scorers(source, [o for o in range(len(source.scorers)) if o != m])
            pair = Joined(others, with_scorers(source, [m]), (0, 0)).halves
            cases.append((others, pair, f"scorer {name}, which does not select"))
    rows: list[Record] = []
    for proxy, pair, by in cases:
        for size in [0, *sizes_up_to(proxy.shape[3] - 1, 1)]:
            select = np.ascontiguousarray(pair.select[..., : size + 1])
            kept = pair.kept & (~np.isnan(select)).any(axis=(1, 2, 3))
            raters = pair.select_givers[..., : size + 1]
            fewer = replace(pair, select=select, select_givers=raters, kept=kept)
            rows += _gains(proxy, [fewer], settings, "joined", ("n_aug", size, by))
    return table("ablations", rows, note=note)


def _gains(
    source: Source,
    halves: Iterable[Halves],
    settings: ContestSettings,
    split: str,
    case: tuple[str, int, str],
    lambdas: Array | None = None,
) -> list[Record]:
    """The rows of one (knob, setting, judged by): all rules and subsets."""
    specs = methods(RULES, settings.beta, settings.gamma)
    return _rows(contest_of(source, halves, settings, specs, split, lambdas), *case)


def _rows(contest: Contest, knob: str, setting: float, by: str) -> list[Record]:
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        columns = compared(contest, contest.tradeoff, among, "tradeoff")
        columns |= compared_tail(contest, among)
        head = {"knob": knob, "setting": setting, "subset": subset, "judged_by": by}
        rows += rows_of(contest, among, columns, 1, **head)
    return rows
