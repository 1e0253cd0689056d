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
from darc.decide.ids import as_ids
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
Decide = Callable[["RatedPools"], Choices]


@dataclass(frozen=True)
class RatedPools:
    """Ratings of many prompts with the ids of raters and systems as numbers."""

    #: Ratings (P, K, n), NaN where there is none.
    scores: Array
    #: Who gave each rating, (P, K, n); -1 where there is none.
    raters: NDArray[np.int64]
    #: Which system wrote each candidate, (P, K).
    systems: NDArray[np.int64]

    def reordered(self, order: NDArray[np.int64], mask: NDArray[np.bool_]) -> "RatedPools":
        """Candidates in another order, with only the ratings in the mask."""
        rows = np.arange(len(order))[:, None]
        scores = np.where(mask, self.scores, np.nan)[rows, order]
        return RatedPools(scores, self.raters[rows, order], self.systems[rows, order])


def read(path: Path) -> RatedPools:
    """A file of prompt_id, candidate_id, rater_id and rating; candidates are named by system."""
    prompts: dict[str, int] = {}
    systems: dict[str, int] = {}
    people: dict[str, int] = {}
    by_candidate: dict[tuple[int, int], list[tuple[int, float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            prompt = prompts.setdefault(row["prompt_id"], len(prompts))
            system = systems.setdefault(row["candidate_id"], len(systems))
            rater = people.setdefault(row["rater_id"], len(people))
            by_candidate.setdefault((prompt, system), []).append((rater, float(row["rating"])))
    shape = (len(prompts), len(systems), max(map(len, by_candidate.values())))
    scores = np.full(shape, np.nan)
    raters = np.full(shape, -1)
    for (prompt, system), candidate_ratings in by_candidate.items():
        for n, (rater, rating) in enumerate(candidate_ratings):
            scores[prompt, system, n] = rating
            raters[prompt, system, n] = rater
    return RatedPools(scores, raters, np.tile(np.arange(shape[1]), (shape[0], 1)))


def halves(data: RatedPools, seed: int) -> tuple[RatedPools, RatedPools]:
    """What selects and what judges: half of the raters each, candidates in a random order.

    Ties go to the lower index, which in many files is the system: a fixed order would be informed.
    """
    generator = np.random.default_rng([seed, 7])
    prompts, candidates, _ = data.scores.shape
    raters = int(data.raters.max()) + 1
    shuffled = generator.permutation(raters)
    # With an odd number of raters, either half may be the larger one.
    half = raters // 2 + int(generator.integers(raters % 2 + 1))
    selecting_raters = np.zeros(raters, dtype=bool)
    selecting_raters[shuffled[:half]] = True
    selects = selecting_raters[data.raters]
    order = np.argsort(generator.random((prompts, candidates)), axis=1)
    rated = data.raters >= 0
    return data.reordered(order, selects & rated), data.reordered(order, ~selects & rated)


def tradeoff(scores: Array) -> Array:
    """The mean less twice sigma of each candidate, (P, K); sigma of one rating counts as 0."""
    rated = ~np.isnan(scores)
    count = np.maximum(rated.sum(-1), 1)
    mean = np.where(rated, scores, 0.0).sum(-1) / count
    gap = np.where(rated, scores - mean[..., None], 0.0)
    sigma = np.sqrt((gap**2).sum(-1) / np.maximum(count - 1, 1))
    return np.where(rated.any(-1), mean - LAM * sigma, np.nan)


def gains(choices: Mapping[str, NDArray[np.int64]], worth: Array, unit: float) -> dict[str, Array]:
    """What each choice is worth above Best-of-K's, by prompt, in within-candidate deviations."""
    rows = np.arange(len(worth))
    plain = worth[rows, choices["mean"]]
    return {name: (worth[rows, index] - plain) / unit for name, index in choices.items()}


def format_gain(gain: Array) -> str:
    """A mean gain, with a star where its 95 % interval over prompts excludes 0."""
    gain = gain[~np.isnan(gain)]
    star = "*" if abs(gain.mean()) > 1.96 * standard_error(gain) else ""
    return f"{gain.mean():+.3f}{star}"


def standard_error(values: Array) -> float:
    """The standard error of a mean; infinite for fewer than two values."""
    if len(values) < 2:
        return np.inf
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def rule_choices(data: RatedPools) -> Choices:
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


def within_deviation(data: RatedPools) -> float:
    """The deviation of ratings within candidates: the unit of gains."""
    return float(np.sqrt(np.nanmean(np.nanvar(data.scores, axis=2, ddof=1))))


@dataclass(frozen=True)
class Split:
    """One halving of the raters, without prompts and candidates that only one half rated."""

    #: What the rules see, of the usable prompts.
    select: RatedPools
    #: The other half's ratings of the same candidates.
    judging_scores: Array
    #: Which candidates both halves rated, (P, K).
    usable: NDArray[np.bool_]
    #: Which prompts have such a candidate, (P,).
    prompts: NDArray[np.bool_]

    @classmethod
    def of(cls, data: RatedPools, seed: int) -> "Split":
        """Split the raters at random."""
        select, judge = halves(data, seed)
        selectable = np.any(~np.isnan(select.scores), axis=2)
        judged = np.any(~np.isnan(judge.scores), axis=2)
        usable = np.asarray(selectable & judged)
        prompts = np.asarray(np.any(usable, axis=1))
        scores = np.where(usable[..., None], select.scores, np.nan)[prompts]
        return cls(
            select=RatedPools(scores, select.raters[prompts], select.systems[prompts]),
            judging_scores=judge.scores[prompts],
            usable=usable,
            prompts=prompts,
        )

    def for_all_prompts(self, values: Array) -> Array:
        """Values of the usable prompts as values of all, NaN for the others."""
        result = np.full(len(self.prompts), np.nan)
        result[self.prompts] = values
        return result


def held_out(data: RatedPools, splits: int, decide: Decide) -> tuple[dict[str, Array], float]:
    """Each choice's gain by prompt, over halvings of the raters, and how many raters select."""
    unit = within_deviation(data)
    gains_by_method: dict[str, list[Array]] = {}
    sizes = []
    for seed in range(splits):
        split = Split.of(data, seed)
        counts = (~np.isnan(split.select.scores)).sum(-1)
        sizes.append(np.median(counts[split.usable[split.prompts]]))
        choices = dict(decide(split.select))
        for name, gain in gains(choices, tradeoff(split.judging_scores), unit).items():
            gains_by_method.setdefault(name, []).append(split.for_all_prompts(gain))
    means = {name: np.nanmean(rows, axis=0) for name, rows in gains_by_method.items()}
    return means, float(np.median(sizes))


def on_ratings(folder: Path, splits: int = SPLITS) -> Table:
    """Every set of ratings in a folder: one half of the raters selects, the other judges."""
    rows: list[list[object]] = []
    names: list[str] = []
    for path in sorted(folder.glob("*.csv.gz")):
        gains_by_method, size = held_out(read(path), splits, rule_choices)
        names = [name for name in gains_by_method if name != "mean"]
        label = path.name.removesuffix(".csv.gz")
        cells = [format_gain(gains_by_method[name]) for name in names]
        rows.append([label, f"{size:.0f}", *cells])
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
            tradeoff=tradeoff(scores),
            mean=np.where(nobody, np.nan, mean),
            content=np.where(nobody, np.nan, content),
        )


def both_versions(data: RatedPools) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
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
    differences = differences[~np.isnan(differences)]
    margin = 1.96 * standard_error(differences)
    mean = differences.mean()
    return f"{mean:+.3f} ({mean - margin:+.3f} to {mean + margin:+.3f})"


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


def version_differences(data: RatedPools, splits: int) -> dict[str, dict[str, Array]]:
    """By what is known besides the ratings: differences by prompt, averaged over halvings."""
    unit = within_deviation(data)
    scale = scale_of(data.scores)
    limit = float(np.mean(scale)) if scale else 0.0
    units = {"tradeoff": unit, "mean": unit, "content": 1.0}
    differences: dict[str, dict[str, list[Array]]] = {}
    for seed in range(splits):
        split = Split.of(data, seed)
        worth = Worth.of(split.judging_scores, limit)
        rows = np.arange(len(split.judging_scores))
        for name, old, new in both_versions(split.select):
            by_measure = differences.setdefault(name, {})
            for measure, measure_unit in units.items():
                values = getattr(worth, measure)
                difference = (values[rows, new] - values[rows, old]) / measure_unit
                by_measure.setdefault(measure, []).append(split.for_all_prompts(difference))
    return {
        name: {measure: np.nanmean(halvings, axis=0) for measure, halvings in by_measure.items()}
        for name, by_measure in differences.items()
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
        unit = within_deviation(data)
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
                means = judging.mean[line, order][usable]
                tradeoffs = judging.tradeoff[line, order][usable]
                mean = (means[at, index] - means[at, base]) / unit
                worth = (tradeoffs[at, index] - tradeoffs[at, base]) / unit
                gains_by_weight.setdefault(weight, []).append((mean, worth))
        calibration._by_count.cache_clear()
        for weight, pairs in gains_by_weight.items():
            mean = np.mean([pair[0] for pair in pairs], axis=0)
            worth = np.mean([pair[1] for pair in pairs], axis=0)
            label = path.name.removesuffix(".csv.gz")
            rows.append([label, weight, interval(mean), interval(worth)])
    header = ["set", "weight", "mean", "tradeoff (mean - 2 sigma of the others)"]
    return Table("weight of s at two ratings, one prompt, against Best-of-K", header, rows)


def ablated_choices(data: RatedPools) -> Choices:
    """The choices of `auto` with ids, whole and without each of its parts."""
    scores = data.scores[:, None]
    ids: dict[str, Any] = {"rater_ids": data.raters, "system_ids": data.systems}

    def chosen(calibration: darc.Calibration) -> NDArray[np.int64]:
        return darc.select_batch(scores, "auto", calibration=calibration, **ids).index

    yield "mean", darc.select_batch(scores, "mean", min_samples=1).index
    rater_ids = as_ids(data.raters, data.raters.shape, "rater")
    system_ids = as_ids(data.systems, data.systems.shape, "system")
    complete = learning.learn(data.scores, rater_ids, system_ids)
    yield "whole", chosen(complete)
    yield "no severity", chosen(replace(complete, raters={}))
    yield "no systems", chosen(learning.learn(data.scores, rater_ids))
    with mock.patch.object(learning, "shared_noise", return_value=1.0):
        yield "no shared noise", chosen(learning.learn(data.scores, rater_ids, system_ids))
    yield "no disagreement", chosen(replace(complete, check=-9.0))
    yield "no cross-check", chosen(replace(complete, check=0.0))
    by_count = darc.Calibration.by_count

    def without_shrinkage(*arguments: Any) -> tuple[Any, Any]:
        weights, shrinkage = by_count(*arguments)
        return weights, np.ones(len(shrinkage))

    with mock.patch.object(darc.Calibration, "by_count", without_shrinkage):
        yield "no shrinkage", chosen(complete)


def simulated(prompts: int = 600, seeds: int = 3) -> tuple[Table, Table]:
    """By the truth of simulated people: rules by how reliable sigma is, and `auto` by its parts."""
    rows: list[list[object]] = []
    parts: dict[str, list[object]] = {}
    for raters, uneven in POPULATIONS:
        gains_by_method: dict[str, list[Array]] = {}
        without: dict[str, list[Array]] = {}
        reliability = []
        for seed in range(seeds):
            people = simulate(recipe(prompts, raters, uneven), seed)
            data = of_people(people.ratings, people.rater)
            worth = people.truth.mean - LAM * people.truth.sigma
            unit = float(np.sqrt(np.mean(people.truth.sigma**2)))
            reliability.append(_reliability(people.ratings, people.truth.sigma))
            choices = dict(rule_choices(data))
            for name, gain in gains(choices, worth, unit).items():
                gains_by_method.setdefault(name, []).append(gain)
            for name, gain in gains(dict(ablated_choices(data)), worth, unit).items():
                without.setdefault(name, []).append(gain)
        hidden = ("mean", "auto, raters and systems")
        names = [name for name in gains_by_method if name not in hidden]
        label = f"{np.mean(reliability):.2f}"
        cells = [format_gain(np.concatenate(gains_by_method[name])) for name in names]
        rows.append([label, raters, *cells])
        for name, part_gains in without.items():
            parts.setdefault(name, []).append(format_gain(np.concatenate(part_gains)))
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


def of_people(ratings: Array, rater: NDArray[np.int64]) -> RatedPools:
    """Simulated ratings (P, K, n) by the people (P, n), with candidates of no system."""
    people = np.broadcast_to(rater[:, None], ratings.shape)
    return RatedPools(ratings, people, np.full(ratings.shape[:2], -1))


def _reliability(ratings: Array, sigma: Array) -> float:
    """The squared correlation of observed and true sigma within prompts."""
    observed = np.nanstd(ratings, axis=2, ddof=1)
    observed -= np.nanmean(observed, axis=1, keepdims=True)
    true = sigma - np.nanmean(sigma, axis=1, keepdims=True)
    if not true.std() > 1e-3:
        return 0.0
    return float(np.corrcoef(np.nan_to_num(observed).ravel(), true.ravel())[0, 1] ** 2)


def lopsided(prompts: int = 200, seeds: int = 8) -> Table:
    """What `auto` loses of the true mean where noise is skewed and no candidate divides people."""
    rows: list[list[object]] = []
    for side in (-1.0, 1.0):
        for raters in (4, 8, 20):
            gains_by_method: dict[str, list[Array]] = {}
            for seed in range(seeds):
                generator = np.random.default_rng([seed, raters])
                mean = generator.normal(0, 0.5, (prompts, 8))
                noise = np.exp(generator.normal(size=(prompts, 8, raters)))
                noise = side * (noise - noise.mean()) / noise.std()
                data = of_people(mean[..., None] + noise, np.zeros((prompts, raters), dtype=int))
                learnt = learning.learn(data.scores)
                pools = data.scores[:, None]
                choices = {rule: darc.select_batch(pools, rule).index for rule in ("mean", *PAPER)}
                calibrations = {"auto": learnt, "no cross-check": replace(learnt, check=0.0)}
                for name, used in calibrations.items():
                    choices[name] = darc.select_batch(pools, "auto", calibration=used).index
                for name, gain in gains(choices, mean, 1.0).items():
                    gains_by_method.setdefault(name, []).append(gain)
            names = [name for name in gains_by_method if name != "mean"]
            label = "low ratings are rare" if side < 0 else "high ratings are rare"
            cells = [format_gain(np.concatenate(gains_by_method[name])) for name in names]
            rows.append([label, raters, *cells])
    note = "true mean against Best-of-K: sigma is the same for all, and any attention to s is lost"
    return Table("lopsided ratings", ["noise", "n", *names], rows, note)


def ablation(folder: Path, splits: int = SPLITS) -> Table:
    """`auto` with rater and system ids on every set of ratings, whole and without each part."""
    columns: dict[str, list[object]] = {}
    sets = sorted(folder.glob("*.csv.gz"))
    for path in sets:
        for name, gain in held_out(read(path), splits, ablated_choices)[0].items():
            columns.setdefault(name, []).append(format_gain(gain))
    rows = [[name, *cells] for name, cells in columns.items() if name != "mean"]
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
        [name, f"{1e3 * seconds:.1f}", f"{seconds / times['statistics']:.2f}"]
        for name, seconds in times.items()
    ]
    return Table(f"time of {prompts} pools of 16 x 8", ["what", "ms", "times statistics"], rows)


def run(data: str = "") -> list[Table]:
    """All tables; those on people's ratings need the folder `data`."""
    tables: list[Table] = []
    if data:
        folder = Path(data) / "ratings"
        tables += [on_ratings(folder), versions(folder), weight_of_two(folder), ablation(folder)]
    return [*tables, *simulated(), lopsided(), cost()]
