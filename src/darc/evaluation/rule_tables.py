"""The tables that compare rules: what their choices are worth beside Best-of-K's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from darc.core import risk
from darc.evaluation.bootstrap import average, estimate, over_splits, tail
from darc.evaluation.contest import Contest, ContestSettings, Splits, contest_of
from darc.evaluation.frame import Frame, Record
from darc.evaluation.ranks import spearman
from darc.evaluation.source import Source
from darc.evaluation.split import Halves
from darc.typing import Array, Mask

Columns = Mapping[str, Any]  # a cell a method, (A,), by the name of the column


def rows_of(
    contest: Contest, among: Mask, columns: Columns, first: int = 0, **head: object
) -> list[Record]:
    """A row a method, from the `first` on: what all tables that compare rules are made of.

    `columns` have a cell a method, for the prompts `among` (R, P); `head` comes before them.
    """
    start = {"source": contest.source.name, **head}
    return [
        {
            **start,
            "method": method,
            "prompts": prompts_in(among),
            **{name: cells[a] for name, cells in columns.items()},
        }
        for a, method in enumerate(contest.methods)
        if a >= first
    ]


def mean_of(values: Array, among: Mask) -> Array:
    """Mean (A,) over prompts, then splits, of values (R, A, P)."""
    return np.asarray(over_splits(average(values, among, np.ones((1, values.shape[2]))))[0])


def tail_of(values: Array, among: Mask, share: float) -> Array:
    """CVaR (A,) over prompts, averaged over splits, of values (R, A, P)."""
    return np.asarray(over_splits(tail(values, among, np.ones((1, values.shape[2])), share))[0])


def outcomes(contest: Contest, among: Mask) -> dict[str, Array]:
    """Reward, risk, tradeoff and CVaR over prompts of each method, (A,) by name."""
    arrays = {"reward": contest.reward, "risk": contest.risk, "tradeoff": contest.tradeoff}
    found = {name: mean_of(values, among) for name, values in arrays.items()}
    return found | {"cvar": tail_of(contest.outcome, among, contest.settings.tail)}


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
    there = among[:, None, :]
    used = np.maximum(among.any(axis=1).sum(), 1)
    return {
        name: np.where(there, signs == sign, False).sum(axis=(0, 2)) / used
        for name, sign in (("win", 1), ("tie", 0), ("loss", -1))
    }


def prompts_in(among: Mask) -> float:
    """Prompts in a subset, averaged over the splits that have any."""
    sizes = among.sum(axis=1)
    return float(sizes[sizes > 0].mean()) if (sizes > 0).any() else 0.0


SPLIT = {
    "rater": "raters split into halves",
    "sample": "each candidate's samples split into halves",
    "rewrite": "rewrites split by number into halves",
}


def described(contest: Contest) -> str:
    """How the numbers of a contest came about."""
    settings, scorers = contest.settings, contest.rewards.shape[2]
    if contest.split == "joined":
        how, half = "proxy scores select and human ratings judge", "the other half of the prompts"
    else:
        how = f"{SPLIT[contest.split]} that select and judge, averaged over "
        how, half = f"{how}{len(contest.kept)} splits", "the half that selects"
    note = f"{contest.source.name}: {how}. Tradeoff is reward - {contest.lam:g} sigma"
    note += f" (lambda by median matching on {half})" if settings.lam is None else ""
    note += f", sigma from the {settings.sigma} half."
    if any(name.startswith("hedgetune") and "rate=" not in name for name in contest.methods):
        note += " hedgetune decides each half of the prompts by the rate chosen on the other half."
    if scorers > 1:
        note += (
            f" {scorers} scorers, each normalised by its own mean and deviation"
            " over the whole half that judges; reward is their mean, sigma their largest."
        )
    return note


def main_table(contest: Contest) -> Frame:
    """Means over prompts and splits; win, tie and loss are prompts against Best-of-K."""
    source, rows = contest.source, list[Record]()
    for subset, among in contest.subsets.items():
        found: dict[str, Any] = outcomes(contest, among)
        del found["cvar"]
        found["length"] = mean_of(contest.length, among)
        found["length_unit"] = [source.length_unit] * len(contest.methods)
        found |= tally(contest.signs, among)
        rows += rows_of(contest, among, found, generator=source.generator, subset=subset)
    return Frame.of("main", "Reward, risk and tradeoff", rows, described(contest))


def human_table(contest: Contest) -> Frame:
    """Each metric, its difference to Best-of-K, and the difference's 95 % bootstrap interval."""
    measures = {"mean": contest.reward, "sigma": contest.risk, "tradeoff": contest.tradeoff}
    settings, rows = contest.settings, list[Record]()
    for subset, among in contest.subsets.items():
        names = (*measures, settings.tail_name)
        found = dict(zip(names, outcomes(contest, among).values(), strict=True))
        for name, values in measures.items():
            found |= compared(contest, values, among, name)
        found |= compared_tail(contest, among)
        rows += rows_of(contest, among, found, subset=subset)
    return Frame.of(
        "human",
        "Mean, sigma, tradeoff and CVaR over prompts, against Best-of-K",
        rows,
        f"{described(contest)} CVaR is the mean of the lowest {settings.tail:.0%} of"
        f" prompts by held-out {settings.outcome}. Intervals: {settings.draws}"
        " paired resamples of the prompts.",
    )


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
                **tally(contest.signs, among),
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
    measures = {"the selecting half": contest.disagreement}
    note = (
        f"{described(contest)} Q5 has the largest disagreement, measured on the half that selects."
    )
    if contest.split == "joined":
        measures = {"the proxy": contest.disagreement, "people": contest.judged_disagreement}
        note = (
            f"{described(contest)} Q5 has the largest disagreement by the proxy, or by people. "
            "People's is of the ratings that also judge, so that a part of the losses in Q1 and of "
            "the gains in Q5 is regression to the mean."
        )
    rows: list[Record] = []
    for by, disagreement in measures.items():
        values = np.where(contest.kept, disagreement, np.nan)
        masks = bucket_masks(values, list(contest.source.prompt_ids))
        rows += bucket_rows(contest, masks, "disagreement", values, by=by)
    return Frame.of("buckets", "Gains over Best-of-K by the disagreement on its choice", rows, note)


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
    return Frame.of(
        "scalarisation",
        "Absolute ratings and pairwise contests against Best-of-K",
        rows,
        f"{described(contest)} S0 is the difference of held-out means. S1 is the share of those "
        "who judged both and prefer the choice (a tie counts half) less one half. Spearman is over "
        "prompts, between the two differences.",
    )


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
    """Tradeoff and rank (1 is best, equals share the better rank) as lambda changes.

    The form "raw" has 0.5, 1 and 2 times lambda and the paper's diagnostic of lambda 5, the form
    "z-scored" the one of lambda 3.
    """
    forms: list[tuple[str, float | None, float, Array]] = [
        ("raw", factor, factor * contest.lam, contest.weighed(factor)) for factor in FACTORS
    ]
    forms.append(("raw", None, RAW, contest.reward - RAW * contest.risk))
    forms.append(("z-scored", None, Z_SCORED, z_scored(contest)))
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        for form, factor, lam, values in forms:
            tradeoff = np.round(mean_of(values, among), 12) + 0.0
            head = {"form": form, "factor": factor, "lambda": lam}
            for method, own in zip(contest.methods, tradeoff, strict=True):
                rank = None if np.isnan(own) else 1 + int((tradeoff > own).sum())
                start = {"source": contest.source.name, "subset": subset, "method": method}
                rows.append({**start, **head, "tradeoff": own, "rank": rank})
    return Frame.of(
        "sensitivity",
        "Ranking of the methods by tradeoff as lambda changes",
        rows,
        "Without a factor: the paper's diagnostics. Z-scored: reward and sigma, each less its mean "
        "and in its deviations over the prompts for Best-of-K's choice: free of the scale.",
    )


def z_scored(contest: Contest, lam: float = Z_SCORED) -> Array:
    """z(reward) - lambda z(sigma), (R, A, P), by Best-of-K's mean and deviation over prompts."""
    sides = []
    for values in (contest.reward, contest.risk):
        base = values[:, 0]
        location, scale = risk.mean(base), np.nan_to_num(risk.sigma(base))
        scale = np.where(scale > 0, scale, 1.0)
        sides.append((values - location[:, None, None]) / scale[:, None, None])
    return np.asarray(sides[0] - lam * sides[1])


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
        verdicts |= {s: contest.rewards[:, :, m] for m, s in enumerate(contest.source.scorers)}
    return Frame.of(
        "scorers",
        "Verdicts of the scorers against Best-of-K",
        _scorer_rows(contest, verdicts),
        "A scorer's own rows are on its raw scale; aggregates are in its pooled deviations on the "
        "half that judges.",
    )


def held_out_scorer_table(source: Source, settings: ContestSettings) -> Frame:
    """Selection by all scorers but one, judged by that one, on its raw scale."""
    rows: list[Record] = []
    for m, name in enumerate(source.scorers if len(source.scorers) > 1 else ()):
        others = [o for o in range(len(source.scorers)) if o != m]
        halves = _judged_by(Splits(source, settings), others, m)
        kept = with_scorers(source, others)
        contest = contest_of(kept, halves, settings, settings.methods, "sample")
        rows += _scorer_rows(contest, {name: contest.reward})
    title = "Selection by the other scorers, judged by the one left out"
    return Frame.of("held_out_scorers", title, rows)


def _scorer_rows(contest: Contest, verdicts: Mapping[str, Array]) -> list[Record]:
    rows: list[Record] = []
    for subset, among in contest.subsets.items():
        for name, values in verdicts.items():
            columns = judged_columns(contest, values, among)
            rows += rows_of(contest, among, columns, 1, subset=subset, scorer=name)
    return rows


def with_scorers(source: Source, wanted: list[int]) -> Source:
    """The source with some of its scorers only."""
    constants = source.constants
    if constants is not None:
        constants = [constants[0][m] for m in wanted], [constants[1][m] for m in wanted]
    return replace(
        source,
        scorers=[source.scorers[m] for m in wanted],
        samples=source.samples[:, wanted],
        givers=source.givers[:, wanted],
        bounds=None if source.bounds is None else [source.bounds[m] for m in wanted],
        constants=constants,
    )


def _judged_by(halves: Iterable[Halves], others: list[int], judge: int) -> Iterable[Halves]:
    part = slice(judge, judge + 1)
    for half in halves:
        yield replace(
            half,
            select=np.ascontiguousarray(half.select[:, others]),
            select_givers=half.select_givers[:, others],
            judge=half.judge[:, part],
            givers=half.givers[:, part],
        )
