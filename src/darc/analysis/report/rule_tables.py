"""The tables that compare rules: what their choices are worth beside Best-of-K's."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from darc.analysis.bootstrap import average, estimate, over_splits, tail
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.run_contest import Splits, contest_of
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.ranks import spearman
from darc.decide.statistics import risk
from darc.ratings.ratings import Ratings
from darc.typing import Array, Mask

Columns = Mapping[str, Any]  # a cell a method, (A,), by the name of the column


def rows_of(
    contest: Contest, among: Mask, columns: Columns, first: int = 0, **head: object
) -> list[Record]:
    """A row a method, from the `first` on: what all tables that compare rules are made of.

    `columns` have a cell a method, for the prompts `among` (R, P); `head` comes before them.
    """
    return [
        {"source": contest.ratings.name, **head, "method": method, "prompts": prompts_in(among)}
        | {name: cells[a] for name, cells in columns.items()}
        for a, method in enumerate(contest.methods)
        if a >= first
    ]


def mean_of(values: Array, among: Mask) -> Array:
    """Mean (A,) over prompts, then splits, of values (R, A, P)."""
    return np.asarray(over_splits(average(values, among, np.ones((1, values.shape[2]))))[0])


def outcomes(contest: Contest, among: Mask) -> dict[str, Array]:
    """Reward, risk, tradeoff and CVaR over prompts of each method, (A,) by name."""
    names, ones = ("reward", "risk", "tradeoff"), np.ones((1, among.shape[1]))
    worst = over_splits(tail(contest.outcome, among, ones, contest.settings.tail))[0]
    return {name: mean_of(getattr(contest, name), among) for name in names} | {"cvar": worst}


def compared(contest: Contest, values: Array, among: Mask, name: str = "") -> dict[str, Array]:
    """The difference to Best-of-K of values (R, A, P), paired by prompt, and its 95 % interval."""
    difference = values - values[:, :1]
    return _changes(contest, name, lambda counts: average(difference, among, counts))


def compared_tail(contest: Contest, among: Mask) -> dict[str, Array]:
    """The same of the CVaR over prompts, each resample comparing the same prompts."""

    def difference(counts: Array) -> Array:
        worst = tail(contest.outcome, among, counts, contest.settings.tail)
        return worst - worst[:, :, :1]

    return _changes(contest, contest.settings.tail_name, difference)


def _changes(contest: Contest, name: str, statistic: Callable[[Array], Array]) -> dict[str, Array]:
    delta, (low, high) = estimate(statistic, contest.counts)
    named = {f"delta_{name}" if name else "delta": delta}
    named |= {f"low_{name or 'delta'}": low, f"high_{name or 'delta'}": high}
    # What the order of summation leaves of a zero is no difference.
    return {key: np.round(each, 12) + 0.0 for key, each in named.items()}


def tally(signs: Array, among: Mask) -> dict[str, Array]:
    """Wins, ties and losses of each method by signs (R, A, P), counted and averaged over splits."""
    used = np.maximum(among.any(axis=1).sum(), 1)
    return {
        name: (among[:, None, :] & (signs == sign)).sum(axis=(0, 2)) / used
        for name, sign in (("win", 1), ("tie", 0), ("loss", -1))
    }


def prompts_in(among: Mask) -> float:
    """Prompts in a subset, averaged over the splits that have any."""
    sizes = among.sum(axis=1)
    return float(sizes[sizes > 0].mean()) if (sizes > 0).any() else 0.0


def described(contest: Contest) -> str:
    """How the numbers of a contest came about."""
    settings, words = contest.settings, WORDS["described"]
    form = "joined" if contest.split == "joined" else "halves"
    note = words[form] + words["tradeoff"]
    if any(name.startswith("hedgetune") and "rate=" not in name for name in contest.methods):
        note += words["hedgetune"]
    if contest.rewards.shape[2] > 1:
        note += words["scorers"]
    return str(note).format(
        source=contest.ratings.name,
        split=WORDS["splits"].get(contest.split),
        splits=len(contest.usable),
        lam=contest.lam,
        matched=words[f"matched_{form}"] if settings.lam is None else "",
        sigma=settings.sigma,
        scorers=contest.rewards.shape[2],
    )


def main_table(contest: Contest) -> Frame:
    """Means over prompts and splits; win, tie and loss are prompts against Best-of-K."""
    source, rows = contest.ratings, list[Record]()
    for subset, among in contest.subsets.items():
        found: dict[str, Any] = outcomes(contest, among)
        del found["cvar"]
        found["length"] = mean_of(contest.length, among)
        found["length_unit"] = [source.length_unit] * len(contest.methods)
        found |= tally(contest.against(contest.reward), among)
        rows += rows_of(contest, among, found, generator=source.generator, subset=subset)
    return table("main", rows, described=described(contest))


def human_table(contest: Contest) -> Frame:
    """Each metric, its difference to Best-of-K, and the difference's 95 % bootstrap interval."""
    measures = {"mean": contest.reward, "sigma": contest.risk, "tradeoff": contest.tradeoff}
    names, rows = (*measures, contest.settings.tail_name), list[Record]()
    for subset, among in contest.subsets.items():
        found = dict(zip(names, outcomes(contest, among).values(), strict=True))
        for name, values in measures.items():
            found |= compared(contest, values, among, name)
        found |= compared_tail(contest, among)
        rows += rows_of(contest, among, found, subset=subset)
    return table("human", rows, described=described(contest), **dict(contest.settings))


BUCKETS = 5


def bucket_masks(values: Array, prompt_ids: list[str], buckets: int = BUCKETS) -> list[Mask]:
    """Equal parts of the prompts of each split by rising values (R, P), ties by id; NaN in none."""
    masks = [np.zeros(values.shape, dtype=bool) for _ in range(buckets)]
    for r, row in enumerate(values):
        known = np.flatnonzero(~np.isnan(row))
        order = np.array(sorted(known, key=lambda p: (row[p], prompt_ids[p])), dtype=np.int64)
        for mask, part in zip(masks, np.array_split(order, buckets), strict=True):
            mask[r, part] = True
    return masks


def bucket_rows(
    contest: Contest, masks: list[Mask], measure: str, values: Array, **head: object
) -> list[Record]:
    """Gains over Best-of-K in each bucket; the `measure` that the buckets are by has `values`."""
    rows: list[Record] = []
    for number, among in enumerate(masks, 1):
        if among.any():
            middle = float(np.nanmean(np.where(among, values, np.nan)))
            columns: Columns = {
                measure: [middle] * len(contest.methods),
                **compared(contest, contest.reward, among),
                **tally(contest.against(contest.reward), among),
                "tradeoff": mean_of(contest.tradeoff, among),
                **compared(contest, contest.tradeoff, among, "tradeoff"),
                **compared_tail(contest, among),
            }
            rows += rows_of(contest, among, columns, 1, **head, bucket=f"Q{number}")
    return rows


def bucket_table(contest: Contest) -> Frame:
    """Fifths of the prompts by the baseline's sigma on the selection half.

    Where a proxy selects and people judge, also by people's sigma.
    """
    measures, form = {"the selecting half": contest.disagreement}, "halves"
    if contest.split == "joined":
        measures = {"the proxy": contest.disagreement, "people": contest.judged_disagreement}
        form = "joined"
    rows: list[Record] = []
    for by, disagreement in measures.items():
        values = np.where(contest.usable, disagreement, np.nan)
        masks = bucket_masks(values, list(contest.ratings.prompt_ids))
        rows += bucket_rows(contest, masks, "disagreement", values, by=by)
    measured = WORDS["tables"]["buckets"][form]
    return table("buckets", rows, described=described(contest), measured=measured)


def judged_columns(contest: Contest, values: Array, among: Mask) -> dict[str, Any]:
    """Win, tie and loss by values (R, A, P), and the mean difference to Best-of-K."""
    return tally(contest.against(values), among) | compared(contest, values, among)


def scalarisation_table(contest: Contest) -> Frame:
    """Win, tie, loss and mean difference under both, and the correlation of the two."""
    forms = {"S0": contest.reward - contest.reward[:, :1], "S1": contest.pairwise}
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        others = range(1, len(contest.methods))
        pairs = ((forms["S0"][:, a], forms["S1"][:, a]) for a in others)
        likeness = [np.nan, *(agreement(*pair, among) for pair in pairs)]
        for form, values in forms.items():
            there = among & ~np.isnan(values).all(axis=1)
            columns = judged_columns(contest, values, there) | {"spearman": likeness}
            rows += rows_of(contest, there, columns, 1, subset=subset, form=form)
    return table("scalarisation", rows, described=described(contest))


def agreement(left: Array, right: Array, among: Mask) -> float:
    """Spearman between (R, P) and (R, P) within each split, averaged over splits that have it."""
    found = []
    for x, y, mask in zip(left, right, among, strict=True):
        there = mask & ~np.isnan(x) & ~np.isnan(y)
        if there.sum() > 2:
            # Rounding must not order equal differences.
            found.append(float(spearman(np.round(x[there], 12), np.round(y[there], 12))))
    known = [value for value in found if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


FACTORS = (0.5, 1.0, 2.0)
RAW, Z_SCORED = 5.0, 3.0


def sensitivity_table(contest: Contest) -> Frame:
    """Tradeoff and rank (1 is best, equals share the better rank) as lambda changes."""
    sides = []
    for values in (contest.reward, contest.risk):
        location, scale = risk.mean(values[:, 0]), np.nan_to_num(risk.sigma(values[:, 0]))
        scale = np.where(scale > 0, scale, 1.0)
        sides.append((values - location[:, None, None]) / scale[:, None, None])
    forms: list[tuple[str, float | None, float, Array]] = [
        *(("raw", factor, factor * contest.lam, contest.weighed(factor)) for factor in FACTORS),
        ("raw", None, RAW, contest.reward - RAW * contest.risk),
        ("z-scored", None, Z_SCORED, sides[0] - Z_SCORED * sides[1]),
    ]
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        for form, factor, lam, values in forms:
            tradeoff = np.round(mean_of(values, among), 12) + 0.0
            for method, own in zip(contest.methods, tradeoff, strict=True):
                rank = None if np.isnan(own) else 1 + int((tradeoff > own).sum())
                row: Record = {"source": contest.ratings.name, "subset": subset, "method": method}
                row |= {"form": form, "factor": factor, "lambda": lam}
                rows.append(row | {"tradeoff": own, "rank": rank})
    return table("sensitivity", rows)


def aggregated_deltas(rewards: Array, scales: Array, gamma: float) -> dict[str, Array]:
    """Differences to Best-of-K over all scorers, (R, A, P) by the name of the aggregate.

    `rewards` (R, A, M, P) are on raw scales, `scales` (R, M) make them comparable; "mean - std" is
    the mean less gamma standard deviations (ddof = 0) over the scorers.
    """
    delta = (rewards - rewards[:, :1]) / scales[:, None, :, None]
    mean = delta.mean(axis=2)
    hedged = mean - gamma * delta.std(axis=2)
    return {"mean": mean, "min": delta.min(axis=2), f"mean - {gamma:g} std": hedged}


def scorer_table(contest: Contest) -> Frame:
    """Win, tie, loss and mean difference by each aggregate and scorer; empty for one scorer."""
    verdicts: dict[str, Array] = {}
    if contest.rewards.shape[2] > 1:
        found = aggregated_deltas(contest.rewards, contest.scales, contest.settings.gamma)
        verdicts = {f"all: {name}": delta for name, delta in found.items()}
        verdicts |= {s: contest.rewards[:, :, m] for m, s in enumerate(contest.ratings.scorers)}
    return table("scorers", _scorer_rows(contest, verdicts))


def held_out_scorer_table(source: Ratings, settings: ContestSettings) -> Frame:
    """Selection by all scorers but one, judged by that one, on its raw scale."""
    rows: list[Record] = []
    for m, name in enumerate(source.scorers if len(source.scorers) > 1 else ()):
        others = [o for o in range(len(source.scorers)) if o != m]
        halves = (
            replace(
                half,
                select=half.select.with_scorers(others),
                judge=half.judge.with_scorers([m]),
            )
            for half in Splits(source, settings)
        )
        kept = source.with_scorers(others)
        contest = contest_of(kept, halves, settings, settings.methods, "sample")
        rows += _scorer_rows(contest, {name: contest.reward})
    return table("held_out_scorers", rows)


def _scorer_rows(contest: Contest, verdicts: Mapping[str, Array]) -> list[Record]:
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        for name, values in verdicts.items():
            columns = judged_columns(contest, values, among)
            rows += rows_of(contest, among, columns, 1, subset=subset, scorer=name)
    return rows
