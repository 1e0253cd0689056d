"""How often the means and changes hold that people and a judge give together (PPI++)."""

from functools import cache

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.analysis.compare.with_judge import compare_with_judge
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.with_judge import powered_rules, run_outcomes
from darc.ratings.ratings import Ratings
from darc.typing import Array

FILES = 400
PROMPTS = 200
# Prompts of the world that shows what the means of rules are.
MANY_PROMPTS = 40_000
SYSTEM_MEANS = (3.0, 2.6, 2.5)
RULES = ("epsilon", "cvar")
# How a judge goes with people, by what rows call it.
JUDGES = {"good judge": 0.8, "useless judge": 0.0}
SHIFT = 2.0


def as_ratings(samples: Array, kind: str, name: str) -> Ratings:
    """Ratings of samples (P, K, n) by the same raters everywhere; candidates are systems."""
    prompts, candidates, count = samples.shape
    ids = [f"system {place}" for place in range(candidates)]
    shape = (prompts, 1, candidates, count)
    present = ~np.isnan(samples[:, None])
    return Ratings(
        name=name,
        kind=kind,
        prompt_ids=[f"p{prompt}" for prompt in range(prompts)],
        candidate_ids=[ids] * prompts,
        scorers=[""],
        samples=samples[:, None],
        raters=np.where(present, np.broadcast_to(np.arange(count), shape), -1),
        rater_names=[f"{name} {place}" for place in range(count)],
        lengths=np.full((prompts, candidates), np.nan),
    )


def judge_of(generator: np.random.Generator, truth: Array, correlation: float) -> Array:
    """A judge's grades (P, K) that go with the truth by a correlation, on another scale."""
    own = generator.normal(0, truth.std(), truth.shape)
    grades = correlation * (truth - truth.mean()) + np.sqrt(1 - correlation**2) * own
    return SHIFT + 2 * grades


def compare_coverage(rated: int, correlation: float, files: int) -> tuple[float, float]:
    """How often the means of systems and the differences from the best hold the truth.

    Args:
        rated: How many of the prompts people rated.
        correlation: How the judge goes with the truth.
        files: The number of files to simulate.
    """
    generator = np.random.default_rng([31, rated])
    means: list[bool] = []
    differences: list[bool] = []
    true_means = np.array(SYSTEM_MEANS)
    for _ in range(files):
        level = generator.normal(0, 0.6, (PROMPTS, 1))
        truth = true_means + level + generator.normal(0, 0.5, (PROMPTS, len(true_means)))
        people = truth[:, :, None] + generator.normal(0, 0.8, (*truth.shape, 2))
        people[rated:] = np.nan
        judge = judge_of(generator, truth, correlation)[:, :, None]
        systems = compare_with_judge(
            as_ratings(people[:rated], "rater", "people"), [as_ratings(judge, "rater", "judge")]
        )
        best = true_means[int(systems[0].system.rpartition(" ")[2])]
        for system in systems:
            true_mean = true_means[int(system.system.rpartition(" ")[2])]
            means.append(system.mean.low <= true_mean <= system.mean.high)
            if system.behind_best is not None:
                behind = true_mean - best
                differences.append(system.behind_best.low <= behind <= system.behind_best.high)
    return float(np.mean(means)), float(np.mean(differences))


def drawn_run(generator: np.random.Generator, prompts: int) -> tuple[Array, Array]:
    """A panel's grades (P, K, 5), and the true means of people, (P, K)."""
    shape = (prompts, 5)
    quality = generator.normal(3, 0.7, shape)
    spread = np.exp(generator.normal(0, 0.4, shape))
    grades = quality[..., None] + spread[..., None] * generator.normal(size=(*shape, 5))
    return grades, quality - 0.3 * spread


def eval_coverage(rated: int, correlation: float, files: int) -> tuple[float, float]:
    """How often the means of rules and their changes against Best-of-K hold the truth.

    Args:
        rated: How many of the prompts people rated.
        correlation: How the judge goes with the truth.
        files: The number of files to simulate.
    """
    settings = ContestSettings(rules=RULES)
    true_means = _true_means()
    generator = np.random.default_rng([32, rated])
    means: list[bool] = []
    changes: list[bool] = []
    for _ in range(files):
        grades, truth = drawn_run(generator, PROMPTS)
        people = truth[:rated, :, None] + generator.normal(0, 0.8, (rated, 5, 2))
        judge = judge_of(generator, truth, correlation)[:, :, None]
        outcomes = run_outcomes(
            as_ratings(grades, "panel", "run"),
            as_ratings(people, "rater", "people"),
            [as_ratings(judge, "rater", "judge")],
            settings,
        )
        for rule in powered_rules("run", outcomes):
            true_mean = true_means[rule.rule]
            means.append(rule.mean.low <= true_mean <= rule.mean.high)
            if rule.change is not None:
                true_change = true_mean - true_means["mean"]
                changes.append(rule.change.low <= true_change <= rule.change.high)
    return float(np.mean(means)), float(np.mean(changes))


@cache
def _true_means() -> dict[str, float]:
    """What rules choose is worth on average, by very many prompts."""
    settings = ContestSettings(rules=RULES)
    grades, truth = drawn_run(np.random.default_rng(33), MANY_PROMPTS)
    whole = as_ratings(truth[..., None], "rater", "people")
    run = as_ratings(grades, "panel", "run")
    outcomes = run_outcomes(run, whole, [whole], settings)
    means = np.nanmean(outcomes.ratings, axis=1).tolist()
    return dict(zip(outcomes.rules, means, strict=True))


def _compare(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for rated in (15, 40):
        for name, correlation in JUDGES.items():
            mean, difference = compare_coverage(rated, correlation, files)
            suffix = f"{rated} of {PROMPTS} prompts rated, {name}"
            rows.append(Row(f"compare --judge: mean, {suffix}", "0.95", mean, files))
            rows.append(Row(f"compare --judge: less the best, {suffix}", "0.95", difference, files))
    return rows


def _eval(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for rated in (15, 40):
        for name, correlation in JUDGES.items():
            mean, change = eval_coverage(rated, correlation, files)
            suffix = f"{rated} of {PROMPTS} prompts rated, {name}"
            rows.append(Row(f"eval --judge: mean, {suffix}", "0.95", mean, files))
            rows.append(Row(f"eval --judge: change, {suffix}", "0.95", change, files))
    return rows


SIMULATIONS: list[Simulation] = [_compare, _eval]
