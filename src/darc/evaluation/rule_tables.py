"""The tables that compare rules: what their choices are worth beside Best-of-K's."""

from dataclasses import dataclass

import numpy as np

from darc.core import risk
from darc.evaluation.bootstrap import average, estimate, over_splits, tail
from darc.evaluation.contest import Contest
from darc.evaluation.frame import Frame
from darc.evaluation.ranks import spearman
from darc.typing import Array, Mask


@dataclass(frozen=True, eq=False)
class Compared:
    """A metric of each method, (A,), and its difference to Best-of-K with a 95 % interval."""

    value: Array
    delta: Array
    low: Array
    high: Array

    def cells(self, method: int) -> tuple[float, float, float]:
        """The difference and its interval."""
        # What the order of summation leaves of a zero is no difference.
        parts = (self.delta[method], self.low[method], self.high[method])
        delta, low, high = (round(float(part), 12) + 0.0 for part in parts)
        return delta, low, high


def mean_of(values: Array, among: Mask) -> Array:
    """Mean (A,) over prompts, then splits, of values (R, A, P)."""
    return np.asarray(over_splits(average(values, among, np.ones((1, values.shape[2]))))[0])


def tail_of(values: Array, among: Mask, share: float) -> Array:
    """CVaR (A,) over prompts, averaged over splits, of values (R, A, P)."""
    return np.asarray(over_splits(tail(values, among, np.ones((1, values.shape[2])), share))[0])


def compared(contest: Contest, values: Array, among: Mask) -> Compared:
    """The mean of values (R, A, P), paired by prompt."""
    difference = values - values[:, :1]
    delta, ends = estimate(lambda counts: average(difference, among, counts), contest.counts)
    return Compared(mean_of(values, among), delta, *ends)


def compared_tail(contest: Contest, among: Mask) -> Compared:
    """The CVaR over prompts of the contest's outcome, each resample comparing the same prompts."""
    share = contest.settings.tail

    def difference(counts: Array) -> Array:
        worst = tail(contest.outcome, among, counts, share)
        return worst - worst[:, :, :1]

    delta, ends = estimate(difference, contest.counts)
    return Compared(tail_of(contest.outcome, among, share), delta, *ends)


def tally(signs: Array, among: Mask) -> list[tuple[float, float, float]]:
    """Wins, ties and losses of each method by signs (R, A, P), counted and averaged over splits."""
    there = among[:, None, :]
    used = np.maximum(among.any(axis=1).sum(), 1)
    counts = [np.where(there, signs == sign, False).sum(axis=(0, 2)) / used for sign in (1, 0, -1)]
    return [(float(win), float(tie), float(loss)) for win, tie, loss in zip(*counts, strict=True)]


def prompts_in(among: Mask) -> float:
    """Prompts in a subset, averaged over the splits that have any."""
    sizes = among.sum(axis=1)
    return float(sizes[sizes > 0].mean()) if (sizes > 0).any() else 0.0


def described(contest: Contest) -> str:
    """How the numbers of a contest came about."""
    source, settings = contest.source, contest.settings
    how = {
        "rater": "raters split into halves that select and judge",
        "sample": "each candidate's samples split into halves that select and judge",
        "rewrite": "rewrites split by number into halves that select and judge",
        "joined": "proxy scores select and human ratings judge",
    }[contest.split]
    times = "" if contest.split == "joined" else f", averaged over {len(contest.kept)} splits"
    note = f"{source.name}: {how}{times}. Tradeoff is reward - {contest.lam:g} sigma"
    if settings.lam is None:
        note += " (lambda by median matching on "
        note += (
            "the other half of the prompts)"
            if contest.split == "joined"
            else "the half that selects)"
        )
    note += f", sigma from the {settings.sigma} half."
    if any(name.startswith("hedgetune") and "rate=" not in name for name in contest.methods):
        note += " hedgetune decides each half of the prompts by the rate chosen on the other half."
    if contest.rewards.shape[2] > 1:
        note += (
            f" {contest.rewards.shape[2]} scorers, each normalised by its own mean and deviation"
            " over the whole half that judges; reward is their mean, sigma their largest."
        )
    return note


COLUMNS = (
    "source",
    "generator",
    "subset",
    "method",
    "prompts",
    "reward",
    "risk",
    "tradeoff",
    "length",
    "length_unit",
    "win",
    "tie",
    "loss",
)


def main_table(contest: Contest) -> Frame:
    """Means over prompts and splits; win, tie and loss are prompts against Best-of-K."""
    rows = []
    source = contest.source
    for subset, among in contest.subsets.items():
        arrays = (contest.reward, contest.risk, contest.tradeoff, contest.length)
        numbers = [mean_of(values, among) for values in arrays]
        games = tally(contest.signs, among)
        for a, method in enumerate(contest.methods):
            cells = [float(column[a]) for column in numbers]
            head = (source.name, source.generator, subset, method, prompts_in(among))
            rows.append((*head, *cells, source.length_unit, *games[a]))
    return Frame.of("main", "Reward, risk and tradeoff", COLUMNS, rows, described(contest))


def human_table(contest: Contest) -> Frame:
    """Each metric, its difference to Best-of-K, and the difference's 95 % bootstrap interval."""
    names = ("mean", "sigma", "tradeoff", contest.settings.tail_name)
    deltas = [f"{part}{name}" for name in names for part in ("delta_", "low_", "high_")]
    rows = []
    for subset, among in contest.subsets.items():
        metrics = [
            *(
                compared(contest, v, among)
                for v in (contest.reward, contest.risk, contest.tradeoff)
            ),
            compared_tail(contest, among),
        ]
        for a, method in enumerate(contest.methods):
            values = [float(metric.value[a]) for metric in metrics]
            changes = [cell for metric in metrics for cell in metric.cells(a)]
            rows.append((contest.source.name, subset, method, prompts_in(among), *values, *changes))
    return Frame.of(
        "human",
        "Mean, sigma, tradeoff and CVaR over prompts, against Best-of-K",
        ("source", "subset", "method", "prompts", *names, *deltas),
        rows,
        f"{described(contest)} CVaR is the mean of the lowest {contest.settings.tail:.0%} of"
        f" prompts by held-out {contest.settings.outcome}. Intervals: {contest.settings.draws}"
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


def bucket_rows(contest: Contest, masks: list[Mask], values: Array) -> list[tuple[object, ...]]:
    """One row a bucket and method, from `bucket` on."""
    rows: list[tuple[object, ...]] = []
    for number, among in enumerate(masks, 1):
        if not among.any():
            continue
        middle = float(np.nanmean(np.where(among, values, np.nan)))
        reward, tradeoff = (compared(contest, v, among) for v in (contest.reward, contest.tradeoff))
        worst = compared_tail(contest, among)
        games = tally(contest.signs, among)
        rows += [
            (
                f"Q{number}",
                method,
                prompts_in(among),
                middle,
                *reward.cells(a),
                *games[a],
                float(tradeoff.value[a]),
                *tradeoff.cells(a),
                *worst.cells(a),
            )
            for a, method in enumerate(contest.methods)
            if a > 0
        ]
    return rows


def bucket_columns(contest: Contest, measure: str) -> tuple[str, ...]:
    """The columns of `bucket_rows`."""
    tail = contest.settings.tail_name
    return (
        *("bucket", "method", "prompts", measure, "delta", "low_delta", "high_delta"),
        *("win", "tie", "loss", "tradeoff"),
        *(f"{part}{name}" for name in ("tradeoff", tail) for part in ("delta_", "low_", "high_")),
    )


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
    rows: list[tuple[object, ...]] = []
    for by, disagreement in measures.items():
        values = np.where(contest.kept, disagreement, np.nan)
        masks = bucket_masks(values, list(contest.source.prompt_ids))
        rows += [(contest.source.name, by, *row) for row in bucket_rows(contest, masks, values)]
    return Frame.of(
        "buckets",
        "Gains over Best-of-K by the disagreement on its choice",
        ("source", "by", *bucket_columns(contest, "disagreement")),
        rows,
        note,
    )


def scalarisation_table(contest: Contest) -> Frame:
    """Win, tie, loss and mean difference under both, and the correlation of the two."""
    rows: list[tuple[object, ...]] = []
    for subset, among in contest.subsets.items():
        forms = {"S0": contest.reward - contest.reward[:, :1], "S1": contest.pairwise}
        likeness = [
            agreement(forms["S0"][:, a], forms["S1"][:, a], among) for a in _others(contest)
        ]
        for form, values in forms.items():
            there = among & ~np.isnan(values).all(axis=1)
            change, games = (
                compared(contest, values, there),
                tally(contest.against(values), there),
            )
            rows += [
                (
                    contest.source.name,
                    subset,
                    contest.methods[a],
                    form,
                    prompts_in(there),
                    *games[a],
                    *change.cells(a),
                    likeness[a - 1],
                )
                for a in _others(contest)
            ]
    return Frame.of(
        "scalarisation",
        "Absolute ratings and pairwise contests against Best-of-K",
        (
            *("source", "subset", "method", "form", "prompts", "win", "tie", "loss"),
            *("delta", "low_delta", "high_delta", "spearman"),
        ),
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


def _others(contest: Contest) -> range:
    return range(1, len(contest.methods))


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
    rows = []
    for subset, among in contest.subsets.items():
        for form, factor, lam, values in forms:
            tradeoff = np.round(mean_of(values, among), 12) + 0.0
            for a, method in enumerate(contest.methods):
                known = not np.isnan(tradeoff[a])
                rank = 1 + int((tradeoff > tradeoff[a]).sum()) if known else None
                head = (contest.source.name, subset, method, form, factor, lam)
                rows.append((*head, tradeoff[a], rank))
    return Frame.of(
        "sensitivity",
        "Ranking of the methods by tradeoff as lambda changes",
        ("source", "subset", "method", "form", "factor", "lambda", "tradeoff", "rank"),
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
