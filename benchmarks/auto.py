"""The rule `auto` against Best-of-K and the paper's rules: on ratings, simulated, by its parts."""

import csv
import gzip
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import darc
from benchmarks.report import Table
from darc.decide.ids import Ids, as_ids
from darc.decide.model import calibration, learning
from darc.decide.standards import scale_of
from darc.decide.statistics.summary import batched
from darc.ratings.simulated import Recipe, simulate

Array = NDArray[np.float64]

PAPER = ("entropic", "epsilon", "penalty", "tau", "cvar", "lcb")
SPLITS = 20
LAM = 2.0
# Raters a candidate, and how unevenly candidates divide people: sigma from all noise to none.
POPULATIONS = ((5, 0.0), (5, 0.15), (9, 0.2), (9, 0.3), (9, 0.5), (20, 0.5), (40, 0.8), (150, 0.8))


Choices = Iterator[tuple[str, NDArray[np.int64]]]
Decide = Callable[["Ratings"], Choices]


@dataclass(frozen=True)
class Ratings:
    """Ratings (P, K, n), who gave each, and which system wrote each candidate, as numbers."""

    scores: Array
    raters: NDArray[np.int64]
    systems: NDArray[np.int64]

    def picked(self, order: NDArray[np.int64], wanted: NDArray[np.bool_]) -> "Ratings":
        """Candidates in another order, and of their ratings only the wanted ones."""
        rows = np.arange(len(order))[:, None]
        scores = np.where(wanted, self.scores, np.nan)[rows, order]
        return Ratings(scores, self.raters[rows, order], self.systems[rows, order])


def read(path: Path) -> Ratings:
    """A file of prompt_id, candidate_id, rater_id and rating; candidates are named by system."""
    names: list[dict[str, int]] = [{}, {}, {}]
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            keys = (row["prompt_id"], row["candidate_id"], row["rater_id"])
            prompt, system, rater = (
                own.setdefault(key, len(own)) for own, key in zip(names, keys, strict=True)
            )
            found.setdefault((prompt, system), []).append((rater, float(row["rating"])))
    shape = len(names[0]), len(names[1]), max(map(len, found.values()))
    scores, raters = np.full(shape, np.nan), np.full(shape, -1)
    for place, given in found.items():
        for n, (rater, rating) in enumerate(given):
            scores[(*place, n)], raters[(*place, n)] = rating, rater
    return Ratings(scores, raters, np.tile(np.arange(shape[1]), (shape[0], 1)))


def halves(data: Ratings, seed: int) -> tuple[Ratings, Ratings]:
    """What selects and what judges: half of the raters each, candidates in a random order.

    Ties go to the lower index, which in many files is the system: a fixed order would be informed.
    """
    generator = np.random.default_rng([seed, 7])
    prompts, candidates, _ = data.scores.shape
    raters = int(data.raters.max()) + 1
    side = np.zeros(raters, dtype=bool)
    side[generator.permutation(raters)[: raters // 2 + int(generator.integers(raters % 2 + 1))]] = (
        True
    )
    selects = side[data.raters]
    order = np.argsort(generator.random((prompts, candidates)), axis=1)
    known = data.raters >= 0
    return data.picked(order, selects & known), data.picked(order, ~selects & known)


def tradeoff(scores: Array) -> Array:
    """The mean less twice sigma of each candidate, (P, K); sigma of one rating counts as 0."""
    known = ~np.isnan(scores)
    count = np.maximum(known.sum(-1), 1)
    mean = np.where(known, scores, 0.0).sum(-1) / count
    gap = np.where(known, scores - mean[..., None], 0.0)
    sigma = np.sqrt((gap**2).sum(-1) / np.maximum(count - 1, 1))
    return np.where(known.any(-1), mean - LAM * sigma, np.nan)


def gains(choices: Mapping[str, NDArray[np.int64]], worth: Array, unit: float) -> dict[str, Array]:
    """What each choice is worth above Best-of-K's, by prompt, in within-candidate deviations."""
    rows = np.arange(len(worth))
    plain = worth[rows, choices["mean"]]
    return {name: (worth[rows, index] - plain) / unit for name, index in choices.items()}


def told(gain: Array) -> str:
    """A mean gain, with a star where its 95 % interval over prompts excludes 0."""
    gain = gain[~np.isnan(gain)]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return f"{gain.mean():+.3f}{'*' if abs(gain.mean()) > 1.96 * error else ''}"


def decided(data: Ratings) -> Choices:
    """The choices of rules, and of `auto` with and without ids."""
    # Candidates that nobody rated are not there for any rule.
    scores = data.scores[:, None]
    for rule in ("mean", *PAPER):
        yield rule, darc.select_batch(scores, rule, min_samples=1).index
    ids: dict[str, Any] = {"rater_ids": data.raters}
    yield "auto", darc.select_batch(scores, "auto").index
    yield "auto, high caution", darc.select_batch(scores, "auto", caution="high").index
    yield "auto, raters", darc.select_batch(scores, "auto", **ids).index
    ids["system_ids"] = data.systems
    yield "auto, raters and systems", darc.select_batch(scores, "auto", **ids).index


def held_out(data: Ratings, splits: int, decide: Decide) -> tuple[dict[str, Array], float]:
    """Each choice's gain by prompt, over halvings of the raters, and how many raters select."""
    unit = float(np.sqrt(np.nanmean(np.nanvar(data.scores, axis=2, ddof=1))))
    found: dict[str, list[Array]] = {}
    size = []
    for seed in range(splits):
        select, judge = halves(data, seed)
        known = [~np.isnan(half.scores) for half in (select, judge)]
        both = np.asarray(np.any(known[0], axis=2) & np.any(known[1], axis=2))
        kept = np.asarray(np.any(both, axis=1))
        scores = np.where(both[..., None], select.scores, np.nan)[kept]
        size.append(np.median((~np.isnan(scores)).sum(-1)[both[kept]]))
        choices = dict(decide(Ratings(scores, select.raters[kept], select.systems[kept])))
        for name, gain in gains(choices, tradeoff(judge.scores[kept]), unit).items():
            whole = np.full(len(kept), np.nan)
            whole[kept] = gain
            found.setdefault(name, []).append(whole)
    return {name: np.nanmean(each, axis=0) for name, each in found.items()}, float(np.median(size))


def on_ratings(folder: Path, splits: int = SPLITS) -> Table:
    """Every set of ratings in a folder: one half of the raters selects, the other judges."""
    rows: list[list[object]] = []
    names: list[str] = []
    for path in sorted(folder.glob("*.csv.gz")):
        found, size = held_out(read(path), splits, decided)
        names = [name for name in found if name != "mean"]
        label = path.name.removesuffix(".csv.gz")
        rows.append([label, f"{size:.0f}", *(told(found[name]) for name in names)])
    note = (
        f"mean - {LAM:g} sigma on the other half of the raters, {splits} halvings, in units of the "
        "deviation within candidates; * the 95 % interval over prompts excludes 0"
    )
    return Table("held-out tradeoff against Best-of-K", ["set", "n", *names], rows, note)


@dataclass(frozen=True)
class Worth:
    """What the judging half of the raters makes of each candidate, (P, K)."""

    tradeoff: Array
    mean: Array
    content: Array

    @classmethod
    def of(cls, scores: Array, limit: float) -> "Worth":
        """Mean less twice sigma, mean, and the share of people who are not unhappy."""
        rated = ~np.isnan(scores)
        count = np.maximum(rated.sum(-1), 1)
        mean = np.where(rated, scores, 0.0).sum(-1) / count
        content = (rated & (scores >= limit)).sum(-1) / count
        nobody = ~rated.any(-1)
        return cls(
            tradeoff(scores), np.where(nobody, np.nan, mean), np.where(nobody, np.nan, content)
        )


def both_versions(data: Ratings) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Choices of version 1 and of version 2, with what each knows besides the ratings.

    Version 1 weighs disagreement lightly whatever the ratings say; that is what the rule still does
    with scores of rewrites.
    """
    scores = data.scores[:, None]
    raters: dict[str, Any] = {"rater_ids": data.raters}
    ids: dict[str, Any] = {**raters, "system_ids": data.systems}
    settings: dict[str, dict[str, Any]] = {
        "one prompt": {"calibration": calibration.DEFAULT},
        "many prompts": {},
        "rater and system ids": ids,
    }
    for name, options in settings.items():
        old = darc.select_batch(scores, "auto", sample="rewrite", **options).index
        new = darc.select_batch(scores, "auto", **options).index
        yield name, old, new


def interval(differences: Array) -> str:
    """A mean difference with its 95 % interval over prompts."""
    known = differences[~np.isnan(differences)]
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.inf
    middle = known.mean()
    return f"{middle:+.3f} ({middle - 1.96 * error:+.3f} to {middle + 1.96 * error:+.3f})"


def versions(folder: Path, splits: int = SPLITS) -> Table:
    """Version 2 less version 1, judged by the other half of the raters."""
    rows: list[list[object]] = []
    for path in sorted(folder.glob("*.csv.gz")):
        label = path.name.removesuffix(".csv.gz")
        for name, worth in version_differences(read(path), splits).items():
            cells = [interval(worth[measure]) for measure in ("tradeoff", "mean", "content")]
            rows.append([label, name, *cells])
    note = (
        f"{splits} halvings of the raters; tradeoff (mean - {LAM:g} sigma) and mean in units of "
        "the deviation within candidates; 95 % intervals over prompts"
    )
    header = ["set", "known besides", "tradeoff", "mean", "share not unhappy"]
    return Table("version 2 less version 1", header, rows, note)


def version_differences(data: Ratings, splits: int) -> dict[str, dict[str, Array]]:
    """By what is known besides the ratings: differences by prompt, averaged over halvings."""
    unit = float(np.sqrt(np.nanmean(np.nanvar(data.scores, axis=2, ddof=1))))
    scale = scale_of(data.scores)
    limit = float(np.mean(scale)) if scale else 0.0
    found: dict[str, dict[str, list[Array]]] = {}
    for seed in range(splits):
        select, judge = halves(data, seed)
        rated = [~np.isnan(half.scores) for half in (select, judge)]
        both = np.asarray(np.any(rated[0], axis=2) & np.any(rated[1], axis=2))
        kept = np.asarray(np.any(both, axis=1))
        scores = np.where(both[..., None], select.scores, np.nan)[kept]
        worth = Worth.of(judge.scores[kept], limit)
        rows = np.arange(len(scores))
        part = Ratings(scores, select.raters[kept], select.systems[kept])
        for name, old, new in both_versions(part):
            measures = {"tradeoff": unit, "mean": unit, "content": 1.0}
            for measure, size in measures.items():
                values = getattr(worth, measure)
                whole = np.full(len(kept), np.nan)
                whole[kept] = (values[rows, new] - values[rows, old]) / size
                found.setdefault(name, {}).setdefault(measure, []).append(whole)
    return {
        name: {measure: np.nanmean(each, axis=0) for measure, each in own.items()}
        for name, own in found.items()
    }


def weight_of_two(folder: Path, splits: int = SPLITS) -> Table:
    """One prompt with two ratings per candidate: what disagreement should weigh there.

    Two raters of each candidate select, all others judge.
    """
    rows: list[list[object]] = []
    for path in sorted(folder.glob("*.csv.gz")):
        data = read(path)
        if (~np.isnan(data.scores)).sum(-1).max() < 3:
            continue
        unit = float(np.sqrt(np.nanmean(np.nanvar(data.scores, axis=2, ddof=1))))
        gains_by_weight: dict[float, list[tuple[Array, Array]]] = {}
        for seed in range(splits):
            generator = np.random.default_rng([seed, 11])
            lots = np.where(np.isnan(data.scores), 2.0, generator.random(data.scores.shape))
            place = np.argsort(np.argsort(lots, axis=-1), axis=-1)
            selecting = np.where(place < 2, data.scores, np.nan)
            judging = Worth.of(np.where(place >= 2, data.scores, np.nan), 0.0)
            usable = ((~np.isnan(data.scores)).sum(-1) > 2).sum(axis=1) > 1
            order = np.argsort(generator.random(data.scores.shape[:2]), axis=1)
            line = np.arange(len(order))[:, None]
            pools = np.where(np.isnan(judging.mean)[..., None], np.nan, selecting)
            pools = pools[line, order][usable][:, None]
            at = np.arange(int(usable.sum()))
            base = darc.select_batch(pools, "mean", min_samples=1).index
            for weight in (0.06, 0.03, 0.0):
                with mock.patch.object(calibration, "DEFAULT_WEIGHT", weight):
                    calibration._by_count.cache_clear()
                    index = darc.select_batch(pools, "auto", calibration=calibration.DEFAULT).index
                values = [each[line, order][usable] for each in (judging.mean, judging.tradeoff)]
                mean, worth = ((own[at, index] - own[at, base]) / unit for own in values)
                gains_by_weight.setdefault(weight, []).append((mean, worth))
        calibration._by_count.cache_clear()
        for weight, pairs in gains_by_weight.items():
            mean = np.mean([pair[0] for pair in pairs], axis=0)
            worth = np.mean([pair[1] for pair in pairs], axis=0)
            label = path.name.removesuffix(".csv.gz")
            rows.append([label, weight, interval(mean), interval(worth)])
    header = ["set", "weight", "mean", "tradeoff (mean - 2 sigma of the others)"]
    return Table("weight of s at two ratings, one prompt, against Best-of-K", header, rows)


def variants(data: Ratings) -> Choices:
    """The choices of `auto` with ids, whole and without each of its parts."""
    scores = data.scores[:, None]
    ids: dict[str, Any] = {"rater_ids": data.raters, "system_ids": data.systems}

    def chosen(calibration: darc.Calibration) -> NDArray[np.int64]:
        return darc.select_batch(scores, "auto", calibration=calibration, **ids).index

    yield "mean", darc.select_batch(scores, "mean", min_samples=1).index
    whole = learning.learn(data.scores, *_ids(data))
    yield "whole", chosen(whole)
    yield "no severity", chosen(replace(whole, raters={}))
    yield "no systems", chosen(learning.learn(data.scores, _ids(data)[0]))
    with mock.patch.object(learning, "shared_noise", return_value=1.0):
        yield "no shared noise", chosen(learning.learn(data.scores, *_ids(data)))
    yield "no disagreement", chosen(replace(whole, check=-9.0))
    yield "no cross-check", chosen(replace(whole, check=0.0))
    tables = darc.Calibration.by_count
    with mock.patch.object(
        darc.Calibration, "by_count", lambda *a: (tables(*a)[0], np.ones(len(tables(*a)[1])))
    ):
        yield "no shrinkage", chosen(whole)


def _ids(data: Ratings) -> tuple[Ids, Ids]:
    return as_ids(data.raters, data.raters.shape, "rater"), as_ids(
        data.systems, data.systems.shape, "system"
    )


def simulated(prompts: int = 600, seeds: int = 3) -> tuple[Table, Table]:
    """By the truth of simulated people: rules by how reliable sigma is, and `auto` by its parts."""
    rows: list[list[object]] = []
    parts: dict[str, list[object]] = {}
    for raters, uneven in POPULATIONS:
        found: dict[str, list[Array]] = {}
        without: dict[str, list[Array]] = {}
        reliability = []
        for seed in range(seeds):
            people = simulate(recipe(prompts, raters, uneven), seed)
            data = of_people(people.ratings, people.rater)
            worth = people.truth.mean - LAM * people.truth.sigma
            unit = float(np.sqrt(np.mean(people.truth.sigma**2)))
            reliability.append(_reliability(people.ratings, people.truth.sigma))
            choices = dict(decided(data))
            for name, gain in gains(choices, worth, unit).items():
                found.setdefault(name, []).append(gain)
            for name, gain in gains(dict(variants(data)), worth, unit).items():
                without.setdefault(name, []).append(gain)
        names = [name for name in found if name not in ("mean", "auto, raters and systems")]
        label = f"{np.mean(reliability):.2f}"
        rows.append([label, raters, *(told(np.concatenate(found[name])) for name in names)])
        for name, each in without.items():
            parts.setdefault(name, []).append(told(np.concatenate(each)))
    note = (
        f"true mean - {LAM:g} sigma, {seeds} x {prompts} prompts of 8 candidates; reliability is "
        "the squared correlation of s with the true sigma within prompts"
    )
    first = Table("by the truth", ["reliability of sigma", "n", *names], rows, note)
    header = ["without", *(str(row[0]) for row in rows)]
    second = [[name, *gain] for name, gain in parts.items() if name not in ("mean", "no systems")]
    return first, Table("parts of auto, by the reliability of sigma", header, second)


def recipe(prompts: int, raters: int, uneven: float) -> Recipe:
    """People of a large crowd, some of them severe, who do not all rate every candidate."""
    return Recipe(
        prompts=prompts,
        candidates=8,
        raters=raters,
        crowd=max(60, raters),
        groups=(1.0,),
        location=5.0,
        candidate_spread=0.6,
        severity=0.4,
        noise=1.0,
        uneven=uneven,
        step=0.5,
        missing=0.2,
    )


def of_people(ratings: Array, rater: NDArray[np.int64]) -> Ratings:
    """Simulated ratings (P, K, n) by the people (P, n), with candidates of no system."""
    people = np.broadcast_to(rater[:, None], ratings.shape)
    return Ratings(ratings, people, np.full(ratings.shape[:2], -1))


def _reliability(ratings: Array, sigma: Array) -> float:
    s = np.nanstd(ratings, axis=2, ddof=1)
    one, other = (array - np.nanmean(array, axis=1, keepdims=True) for array in (s, sigma))
    if not other.std() > 1e-3:
        return 0.0
    return float(np.corrcoef(np.nan_to_num(one).ravel(), other.ravel())[0, 1] ** 2)


def lopsided(prompts: int = 200, seeds: int = 8) -> Table:
    """What `auto` loses of the true mean where noise is skewed and no candidate divides people."""
    rows: list[list[object]] = []
    for side in (-1.0, 1.0):
        for raters in (4, 8, 20):
            found: dict[str, list[Array]] = {}
            for seed in range(seeds):
                generator = np.random.default_rng([seed, raters])
                mean = generator.normal(0, 0.5, (prompts, 8))
                noise = np.exp(generator.normal(size=(prompts, 8, raters)))
                noise = side * (noise - noise.mean()) / noise.std()
                data = of_people(mean[..., None] + noise, np.zeros((prompts, raters), dtype=int))
                learnt = learning.learn(data.scores)
                pools = data.scores[:, None]
                choices = {rule: darc.select_batch(pools, rule).index for rule in ("mean", *PAPER)}
                for name, one in (("auto", learnt), ("no cross-check", replace(learnt, check=0.0))):
                    choices[name] = darc.select_batch(pools, "auto", calibration=one).index
                for name, gain in gains(choices, mean, 1.0).items():
                    found.setdefault(name, []).append(gain)
            names = [name for name in found if name != "mean"]
            label = "low ratings are rare" if side < 0 else "high ratings are rare"
            rows.append([label, raters, *(told(np.concatenate(found[name])) for name in names)])
    note = "true mean against Best-of-K: sigma is the same for all, and any attention to s is lost"
    return Table("lopsided ratings", ["noise", "n", *names], rows, note)


def ablation(folder: Path, splits: int = SPLITS) -> Table:
    """`auto` with rater and system ids on every set of ratings, whole and without each part."""
    columns: dict[str, list[object]] = {}
    sets = sorted(folder.glob("*.csv.gz"))
    for path in sets:
        for name, gain in held_out(read(path), splits, variants)[0].items():
            columns.setdefault(name, []).append(told(gain))
    rows = [[name, *found] for name, found in columns.items() if name != "mean"]
    names = [path.name.removesuffix(".csv.gz") for path in sets]
    return Table("parts of auto, held-out tradeoff", ["without", *names], rows)


def cost(prompts: int = 4000) -> Table:
    """A calibrated decision against the statistics alone, in turn, the best of some."""
    scores = np.random.default_rng(0).normal(size=(prompts, 1, 16, 8))
    learnt = darc.calibrate(scores[:200])
    times = dict.fromkeys(("statistics", "mean", "auto, calibrated", "auto, learning"), np.inf)
    for _ in range(7):
        for name in times:
            start = time.perf_counter()
            if name == "statistics":
                batched(scores, 1.0, 1.0)
            elif name == "auto, calibrated":
                darc.select_batch(scores, "auto", calibration=learnt)
            else:
                darc.select_batch(scores, name.partition(",")[0])
            times[name] = min(times[name], time.perf_counter() - start)
    rows: list[list[object]] = [
        [name, f"{1e3 * each:.1f}", f"{each / times['statistics']:.2f}"]
        for name, each in times.items()
    ]
    return Table(f"time of {prompts} pools of 16 x 8", ["what", "ms", "times statistics"], rows)


def run(data: str = "") -> list[Table]:
    tables = [*simulated(), lopsided(), cost()]
    folder = Path(data) / "ratings"
    return [*(f(folder) for f in (on_ratings, versions, weight_of_two, ablation) if data), *tables]
