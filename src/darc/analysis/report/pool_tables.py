"""The tables of pools and held-out samples: disagreement, cost, bounds kept, densities."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.analysis.metrics import aggregated, lower_bound, taken
from darc.decide.method import Method
from darc.decide.search.lazy import Pair
from darc.decide.select import select_batch, select_lazily
from darc.decide.statistics import risk
from darc.ratings.ratings import GIVEN, SPENT, Halves, Ratings
from darc.types import clipped
from darc.typing import Array, Mask


def pool_table(source: Ratings) -> Frame:
    """Mean, Q80 and Q90 over prompts of the largest variance, per scorer on its raw scale."""
    rows = []
    largest = np.fmax.reduce(risk.sigma(source.samples) ** 2, axis=2)
    for name, values in zip(source.scorers, largest.T, strict=True):
        known = values[~np.isnan(values)]
        row: Record = {"source": source.name, "scorer": name, "prompts": len(known)}
        row |= dict.fromkeys(("mean", "q80", "q90", "share_from_q80"), float("nan"))
        if known.size:
            edge, high = np.quantile(known, [0.8, 0.9])
            share = (known >= edge).mean()
            row |= {"mean": known.mean(), "q80": edge, "q90": high, "share_from_q80": share}
        rows.append(row)
    return table("pool", rows)


MOST = 10
BATCH = 4


def call_table(source: Ratings, methods: list[Method]) -> Frame:
    """Texts that each rule scores of a prompt when it searches lazily, and when it scores all.

    Needs the scorers' bounds and, for several scorers, their constants; otherwise it is empty. At
    most `MOST` prompts, evenly spread, are searched; the choice is checked to be the full one's.
    """
    rows = []
    prompts = _spread(source)
    for method in methods:
        if not _searchable(source, method):
            continue
        found = [_searched(source, method, prompt) for prompt in prompts]
        # A sample that the search asks for and that does not exist is no text.
        there = np.asarray((~np.isnan(source.samples[prompts])).any(axis=1))
        lazy, whole = there[np.stack([asked for asked, _ in found])].sum(), there.sum()
        row: Record = {"source": source.name, "method": method.text, "prompts": len(prompts)}
        row |= {"full": whole / len(prompts), "lazy": lazy / len(prompts), "share": lazy / whole}
        rows.append(row | {"same_choice": sum(same for _, same in found)})
    return table("calls", rows, batch=BATCH)


def _spread(source: Ratings) -> list[int]:
    """At most `MOST` prompts, evenly spread."""
    return np.unique(np.linspace(0, len(source.prompt_ids) - 1, MOST).astype(int)).tolist()


SECONDS = " seconds"


def cost_table(source: Ratings) -> Frame:
    """The source's totals, and each per prompt."""
    prompts = len(source.prompt_ids)
    rows = [
        {"source": source.name, "item": name, "total": total, "per_prompt": total / prompts}
        for name, total in source.costs.items()
    ]
    return table("cost", rows)


def latency_table(source: Ratings) -> Frame:
    """Seconds a prompt by stage of a run, beside what N_aug = 0 would take.

    Without rewrites a run makes none, and scores the originals alone: their share of all scored
    texts is taken of the scoring time.
    """
    seconds = {
        name.removesuffix(SECONDS): total / len(source.prompt_ids)
        for name, total in source.costs.items()
        if name.endswith(SECONDS)
    }
    there = ~np.isnan(source.samples[:, 0])
    share = there[:, :, 0].sum() / max(1, there.sum())
    plain = seconds | {"rewrite": 0.0, "score": seconds.get("score", 0.0) * share}
    whole, alone = sum(seconds.values()), sum(plain[stage] for stage in seconds)
    stages = [*((stage, seconds[stage], plain[stage]) for stage in seconds), ("all", whole, alone)]
    rows = [
        {"source": source.name, "stage": stage, "seconds_per_prompt": spent, "at_n_aug_0": least}
        for stage, spent, least in stages
    ]
    # Beside answers that nobody had to write everything is much: a share would say nothing.
    added, given = f"{whole - alone:.3f} s a prompt", " The answers were given, not written."
    if alone and source.generator != GIVEN:
        added, given = f"{whole / alone - 1:.1%}", ""
    most = there.shape[2] - 1
    return table("latency", rows, name=source.name, most=most, added=added, given=given)


def decision_cost_table(contest: Contest) -> Frame:
    """Milliseconds that each rule took to decide a prompt of the cached pools, on this machine."""
    decided = max(1, int(contest.usable.sum()))
    rows = [
        {"source": contest.ratings.name, "method": method}
        | {"milliseconds_per_prompt": 1000 * contest.seconds[method] / decided}
        for method in contest.methods
    ]
    return table("decision_cost", rows)


def token_table(source: Ratings, methods: list[Method]) -> Frame:
    """Tokens a prompt that each rule's decision costs, with everything scored and lazily.

    Empty where the source recorded none. At most `MOST` prompts, evenly spread, are counted.
    """
    rows: list[Record] = []
    prompts = _spread(source)
    for method in methods if source.tokens_spent else ():
        if any(name not in source.side for name in method.rule.required()):
            continue
        parts = np.mean([_spent(source, p, _needed(source, method, p)) for p in prompts], axis=0)
        lazily = float("nan")
        if _searchable(source, method):
            asked = [_spent(source, p, _searched(source, method, p)[0]) for p in prompts]
            lazily = float(np.sum(asked, axis=1).mean())
        row: Record = {"source": source.name, "method": method.text, "prompts": len(prompts)}
        row |= dict(zip(SPENT, parts, strict=True))
        rows.append(row | {"total": parts.sum(), "lazily": lazily})
    return table("tokens", rows)


def _spent(source: Ratings, prompt: int, wanted: Mask) -> list[float]:
    """Tokens generated, rewritten and scored for one prompt when `wanted` (K, n) are scored."""
    generated, rewritten, scored = (source.tokens_spent[name][prompt] for name in SPENT)
    return [
        float(np.nansum(generated)),
        float(np.nansum(rewritten[wanted[:, 1:].any(axis=1)])),
        len(source.scorers) * float(np.nansum(scored[wanted])),
    ]


def _needed(source: Ratings, method: Method, prompt: int) -> Mask:
    """The samples (K, n) that a rule looks at."""
    there = ~np.isnan(source.samples[prompt]).all(axis=0)
    given = method.rule.parameters
    if method.rule.name == "mbr" and given.get("weights") != "reward":
        there[:] = False
    elif given.get("reward") == "original":
        there[:, 1:] = False
    return np.asarray(there)


def _searchable(source: Ratings, method: Method) -> bool:
    """Whether the lazy search is exact for the rule on this source."""
    if method.rule.plan is None or method.rule.required() or source.bounds is None:
        return False
    return len(source.scorers) == 1 or source.constants is not None


def _searched(source: Ratings, method: Method, prompt: int) -> tuple[Mask, bool]:
    """The samples (K, n) that the lazy search asks for, and whether it chooses as all would."""
    samples = clipped(source.samples[prompt : prompt + 1], source.bounds)[0]
    samples = np.ascontiguousarray(samples[:, : len(source.candidate_ids[prompt])])
    normalize = source.constants if len(source.scorers) > 1 else "none"
    shared: dict[str, Any] = {"beta": method.beta, "gamma": method.gamma, "normalize": normalize}
    asked = np.zeros(source.samples.shape[2:], dtype=bool)

    def score(pairs: list[Pair]) -> Array:
        for pair in pairs:
            asked[pair] = True
        values = np.array([samples[:, k, i] for k, i in pairs])
        return values if values.shape[1] > 1 else values[:, 0]

    bounds = np.asarray(source.bounds, dtype=np.float64)
    _, size, depth = samples.shape
    found = select_lazily(score, size, depth, method.rule, bounds, BATCH, **shared)
    return asked, bool(found.index == select_batch(samples[None], method.rule, **shared).index[0])


CALIBRATION_DELTAS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)


def calibration_table(contest: Contest, halves: Iterable[Halves]) -> Frame:
    """Share of choices whose held-out mean is at least the bound of the half that selected."""
    shape = (len(CALIBRATION_DELTAS), len(contest.methods))
    held, known = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for half, choice, reward in zip(halves, contest.choice, contest.reward, strict=True):
        at = aggregated(half.select.samples)
        sizes = (at.count > 0).sum(axis=1).astype(np.float64)
        for d, delta in enumerate(CALIBRATION_DELTAS):
            bound = taken(lower_bound(at, sizes, delta), choice)
            held[d] += (reward >= bound).sum(axis=1)
            known[d] += (~np.isnan(bound) & ~np.isnan(reward)).sum(axis=1)
    rows = [
        {"source": contest.ratings.name, "method": contest.methods[a]}
        | {"nominal": 1 - CALIBRATION_DELTAS[d]}
        | {"observed": held[d, a] / known[d, a], "decisions": known[d, a]}
        for d, a in np.ndindex(shape)
        if known[d, a]
    ]
    return table("calibration", rows)


POINTS = 101


def density(values: Array, grid: Array) -> Array:
    """Gaussian kernel density of (n,) on a grid (g,), with Silverman's bandwidth. O(g u)."""
    points, times = np.unique(values, return_counts=True)
    deviation = float(values.std(ddof=1)) if values.size > 1 else 0.0
    low, high = np.quantile(values, [0.25, 0.75])
    spread = min(deviation, (high - low) / 1.349) if high > low else deviation
    width = 0.9 * spread * values.size**-0.2 if spread > 0 else 0.01 * max(1.0, np.ptp(grid))
    heights = np.array([np.exp(-0.5 * ((x - points) / width) ** 2) @ times for x in grid])
    return heights / (values.size * width * np.sqrt(2 * np.pi))


def density_table(contest: Contest, halves: Iterable[Halves]) -> Frame:
    """Densities on a common grid, by scorer on its raw scale, over all splits.

    Of the held-out samples of a method's choices, which come back in many splits, the different
    ones are kept, with how often they came.
    """
    rows: list[Record] = []
    places = np.arange(len(contest.ratings.prompt_ids))
    for m in range(contest.rewards.shape[2]):
        ends = [np.inf, -np.inf]
        found = [Counter[float]() for _ in contest.methods]
        for half, choices in zip(halves, contest.choice, strict=True):
            judge = half.judge.samples[:, m]
            ends = [np.nanmin(judge, initial=ends[0]), np.nanmax(judge, initial=ends[1])]
            for times, choice in zip(found, choices, strict=True):
                own = judge[places, np.maximum(choice, 0)][choice >= 0]
                times.update(own[~np.isnan(own)].tolist())
        grid = np.linspace(ends[0], ends[1], POINTS)
        scorer = contest.ratings.scorers[m] if m < len(contest.ratings.scorers) else ""
        for method, times in zip(contest.methods, found, strict=True):
            head = {"source": contest.ratings.name, "scorer": scorer, "method": method}
            if times:
                heights = density(np.repeat([*times], [*times.values()]), grid)
                pairs = zip(grid, heights, strict=True)
                rows += [head | {"x": x, "density": y} for x, y in pairs]
    return table("densities", rows)
