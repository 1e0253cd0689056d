"""The tables that compare a proxy with people: sigmas, their errors, rewrite families."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.analysis import ranks
from darc.analysis.bootstrap import draw_counts, interval
from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.analysis.metrics import aggregated, pooled_units, taken
from darc.analysis.report.rule_tables import (
    BUCKETS,
    bucket_masks,
    bucket_rows,
    described,
    outcomes,
    rows_of,
)
from darc.analysis.weighted_ranks import (
    partial_correlation,
    weighted_correlations,
    weighted_overlap,
    weighted_ranks,
)
from darc.errors import InputError
from darc.ratings.joining import JoinedRatings
from darc.typing import Array, Integers, Mask

SHARE = 0.2
CURVE = tuple(round(0.05 * step, 2) for step in range(1, 11))
CASES = 5
CELLS = 400_000


@dataclass(frozen=True, eq=False)
class Items:
    """Candidates (N,) whose sigma both know: which they are, both sigmas, and what is controlled.

    `controls` is (c, N): the proxy's mean and, where it is known of all, the length.
    """

    prompt: Integers
    candidate: Integers
    proxy: Array
    human: Array
    controls: Array


def items_of(joined: JoinedRatings, scorer: int | None = None, among: Mask | bool = True) -> Items:
    """The items of one scorer on its raw scale, or of all; `among` (P, K) limits them."""
    samples = joined.proxy.samples
    if scorer is not None:
        samples = samples[:, [scorer]]
    proxy, human = aggregated(samples), aggregated(joined.human.samples)
    known = ~np.isnan(proxy.sigma) & ~np.isnan(human.sigma) & among
    prompt, candidate = np.nonzero(known)
    length = joined.proxy.lengths[known]
    controls = [proxy.mean[known], *([] if np.isnan(length).any() else [length])]
    return Items(prompt, candidate, proxy.sigma[known], human.sigma[known], np.stack(controls))


def agreement(items: Items, draws: int, seed: int) -> list[Record]:
    """Rows of metric, value, interval over whole prompts and p, none of fewer than four items."""
    size = len(items.proxy)
    if size < 4:
        return []
    left, right = ranks.top(items.proxy, SHARE), ranks.top(items.human, SHARE)
    both, top = int((left & right).sum()), int(left.sum())
    rho = float(ranks.spearman(items.proxy, items.human))
    tau, tau_p = ranks.kendall(items.proxy, items.human)
    partial = float(ranks.partial_spearman(items.proxy, items.human, items.controls))
    ends, none = interval(_resampled(items, draws, seed)).T, (np.nan, np.nan)
    chance = ranks.hypergeometric_tail(both, size, top, top)
    found: dict[str, tuple[float, Any, float]] = {
        "spearman": (rho, ends[0], ranks.correlation_p(rho, size)),
        "kendall": (tau, none, tau_p),
        "partial spearman": (partial, ends[1], ranks.correlation_p(partial, size)),
        f"precision@{SHARE:.0%}": (both / top, none, np.nan),
        f"recall@{SHARE:.0%}": (both / int(right.sum()), none, np.nan),
        f"jaccard@{SHARE:.0%}": (both / (2 * top - both), ends[2], np.nan),
        f"overlap@{SHARE:.0%}": (both, none, chance),
    }
    return [
        {"metric": name, "value": value, "low": low, "high": high, "p": p}
        for name, (value, (low, high), p) in found.items()
    ]


def _resampled(items: Items, draws: int, seed: int) -> Array:
    """Spearman, partial Spearman and Jaccard of each resample, (draws, 3)."""
    if len(np.unique(items.prompt)) < 2:
        return np.full((1, 3), np.nan)
    counts = draw_counts(int(items.prompt.max()) + 1, draws, seed)
    step = max(1, CELLS // len(items.prompt))
    parts = []
    for start in range(0, draws, step):
        weights = counts[start : start + step, items.prompt].astype(np.float64)
        weights = weights[weights.sum(axis=1) > 0]
        sides = (items.proxy, items.human, *items.controls)
        ranked = [weighted_ranks(side, weights) for side in sides]
        matrices = weighted_correlations(ranked, weights)
        overlap = weighted_overlap(items.proxy, items.human, weights, SHARE)
        parts.append(np.stack([matrices[:, 0, 1], partial_correlation(matrices), overlap], axis=1))
    return np.concatenate(parts)


def _kinds(
    joined: JoinedRatings, base: Integers | None, scorer: int | None = None
) -> Iterator[tuple[str, Items]]:
    """All candidates and, where it is known, Best-of-K's choices (P,) as items, by name."""
    yield "all candidates", items_of(joined, scorer)
    if base is not None:
        chosen = np.arange(joined.proxy.shape[2]) == base[:, None]
        yield "Best-of-K's choice", items_of(joined, scorer, chosen)


def validity_table(
    joined: JoinedRatings, base: Integers, draws: int = 2000, seed: int = 0
) -> Frame:
    """Agreement of the proxy's sigma with people's, for all scorers together and for each."""
    proxy, rows = joined.proxy, list[Record]()
    scorers: dict[str, int | None] = {"all": None}
    if len(proxy.scorers) > 1:
        scorers |= {name: m for m, name in enumerate(proxy.scorers)}
    for label, scorer in scorers.items():
        for what, items in _kinds(joined, base, scorer):
            head: Record = {"source": proxy.name, "ratings": joined.human.name, "scorer": label}
            head |= {"items": what, "n": len(items.proxy)}
            rows += [head | row for row in agreement(items, draws, seed)]
    if not rows:
        raise InputError(f"{proxy.name} and {joined.human.name} share too few sigmas to compare")
    return table("validity", rows, draws=draws)


def overlap_table(joined: JoinedRatings, base: Integers | None = None) -> Frame:
    """Share of the top q by the proxy's sigma that is in the top q by people's, for q to 50 %."""
    rows = []
    for what, items in _kinds(joined, base):
        for share in CURVE:
            left, right = ranks.top(items.proxy, share), ranks.top(items.human, share)
            if left.any():
                row = {"source": joined.proxy.name, "ratings": joined.human.name, "items": what}
                hit = (left & right).sum() / left.sum()
                rows.append(row | {"share": share, "overlap": hit, "by_chance": left.mean()})
    return table("overlap", rows)


def points_table(joined: JoinedRatings, base: Integers | None = None) -> Frame:
    """Both sigmas of every candidate, and whether it is Best-of-K's choice, `base` (P,)."""
    rows = []
    for p, k, named, sigmas in _rows(joined, items_of(joined)):
        chosen = "" if base is None else "yes" if base[p] == k else "no"
        rows.append({**named, "ratings": joined.human.name, "best_of_k": chosen, **sigmas})
    return table("points", rows)


def mismatch_table(joined: JoinedRatings, base: Integers | None = None) -> Frame:
    """The candidates whose ranks by the two sigmas differ most, in both directions, with texts."""
    proxy, rows = joined.proxy, []
    for what, items in _kinds(joined, base):
        gap = ranks.ranks(items.proxy) - ranks.ranks(items.human)
        every = _rows(joined, items)
        for kind, sign in (("proxy high, people agree", 1), ("proxy low, people disagree", -1)):
            for at in np.argsort(-sign * gap, kind="stable")[:CASES]:
                if sign * gap[at] <= 0:
                    break
                p, k, named, sigmas = every[at]
                row = {"kind": kind, "items": what, **named, **sigmas}
                row["prompt"] = proxy.questions[p] if proxy.questions else ""
                row["response"] = proxy.texts[p][k] if proxy.texts else ""
                rows.append(row)
    return table("mismatches", rows)


def _rows(joined: JoinedRatings, items: Items) -> list[tuple[int, int, Record, Record]]:
    """Prompt and candidate of every item, with their names and its sigmas as parts of a row."""
    proxy, found = joined.proxy, []
    for at, (p, k) in enumerate(zip(items.prompt, items.candidate, strict=True)):
        named = {"source": proxy.name, "prompt_id": proxy.prompt_ids[p]}
        named["candidate_id"] = proxy.candidate_ids[p][k]
        sigmas = {"sigma_proxy": items.proxy[at], "sigma_human": items.human[at]}
        found.append((p, k, named, sigmas))
    return found


def sigma_errors(joined: JoinedRatings, contest: Contest, rescaled: bool = False) -> Array:
    """|proxy - human| sigma of Best-of-K's choice, (R, P).

    Rescaled, each sigma is in deviations of all its samples; of several scorers it always is.
    """
    sides = []
    for source in (joined.proxy, joined.human):
        one = rescaled and len(source.scorers) == 1
        scale = pooled_units(source.samples)[1][0] if one else 1.0
        sides.append(taken(aggregated(source.samples).sigma / scale, contest.choice[:, 0]))
    return np.abs(sides[0] - sides[1])


def quantile_masks(values: Array, buckets: int = BUCKETS) -> tuple[list[Mask], Array]:
    """Parts of the prompts of each split (R, P) between quantiles of its values, and those edges.

    An edge belongs to the part below it, so ties leave the parts unequal; NaN is in none. The edges
    (R, buckets + 1) include both ends.
    """
    known = ~np.isnan(values)
    edges = np.full((len(values), buckets + 1), np.nan)
    for row, own, there in zip(edges, values, known, strict=True):
        if there.any():
            row[:] = np.quantile(own[there], np.linspace(0, 1, buckets + 1))
    place = np.sum(values[:, :, None] > edges[:, None, 1:-1], axis=2)
    return [known & (place == number) for number in range(buckets)], edges


def error_table(joined: JoinedRatings, contest: Contest) -> Frame:
    """Fifths of the prompts by the proxy's error, raw and rescaled; `contest` is the joined one."""
    raw, rescaled = (sigma_errors(joined, contest, rescaled=form) for form in (False, True))
    by_quantile, edges = quantile_masks(raw)
    equal = bucket_masks(rescaled, list(contest.ratings.prompt_ids))
    rows = [
        *bucket_rows(contest, by_quantile, "error", raw, form="raw"),
        *bucket_rows(contest, equal, "error", rescaled, form="rescaled"),
    ]
    ends = ", ".join(f"{edge:.4g}" for edge in edges[0])
    return table("errors", rows, described=described(contest), ends=ends)


DEFAULT = "style"
Pairs = Sequence[tuple[JoinedRatings, Contest]]


def family_table(contests: Sequence[Contest], pairs: Pairs = ()) -> Frame:
    """Mean, risk, tradeoff and CVaR of each family and method; empty unless families differ.

    People judge where their ratings are joined to several families, and otherwise each family's
    own held-out rewrites do. A source without a family has no row.
    """
    groups = {human: [contest for _, contest in own] for human, own in _by_ratings(pairs).items()}
    own = [contest for contest in contests if contest.ratings.family]
    if not groups and len({contest.ratings.family for contest in own}) > 1:
        groups = {"its own rewrites": own}
    rows = []
    for judge, group in groups.items():
        for contest in group:
            for part, among in _slices(contest, group).items():
                head: Record = {"family": contest.ratings.family, "judge": judge, "slice": part}
                rows += rows_of(contest, among, outcomes(contest, among), **head)
    return table("families", rows, default=DEFAULT)


def family_agreement_table(pairs: Pairs, draws: int, seed: int) -> Frame:
    """Agreement of each family's sigma with people's, overall and on the stress slice."""
    rows = []
    for human, own in _by_ratings(pairs).items():
        for joined, contest in own:
            for part, among in _slices(contest, [each for _, each in own]).items():
                items = items_of(joined, None, among[0][:, None])
                head: Record = {"source": joined.proxy.name, "family": joined.proxy.family}
                head |= {"ratings": human, "slice": part, "n": len(items.proxy)}
                rows += [head | row for row in agreement(items, draws, seed)]
    return table("family_agreement", rows)


def _by_ratings(pairs: Pairs) -> dict[str, list[tuple[JoinedRatings, Contest]]]:
    """The pairs with a family, by the ratings that judge several families."""
    found: dict[str, list[tuple[JoinedRatings, Contest]]] = {}
    for joined, contest in pairs:
        if joined.proxy.family:
            found.setdefault(joined.human.name, []).append((joined, contest))
    families = {human: {joined.proxy.family for joined, _ in own} for human, own in found.items()}
    return {human: own for human, own in found.items() if len(families[human]) > 1}


def _slices(contest: Contest, group: Sequence[Contest]) -> dict[str, Mask]:
    """The kept prompts of a contest, and among them the group's stress slice, (R, P) by name."""
    reference = next((each for each in group if each.ratings.family == DEFAULT), group[0])
    places = {prompt: p for p, prompt in enumerate(reference.ratings.prompt_ids)}
    at = np.array([places.get(prompt, -1) for prompt in contest.ratings.prompt_ids])
    stress = contest.usable & (at >= 0) & reference.high[:, at]
    return {"overall": contest.usable} | ({"stress": stress} if stress.any() else {})
