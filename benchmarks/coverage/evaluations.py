"""How often the intervals and bands of `darc eval` hold what many more prompts would show."""

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.analysis.bootstrap import ROUNDING, average, estimate
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.verdict import judge
from darc.ratings.ratings import Ratings
from darc.typing import Array

FILES = 200
CANDIDATES = 5
RATERS = 8
SPLITS = 5
RULES = ("mean", "auto", "epsilon", "entropic", "lcb", "penalty", "tau", "cvar")


def simulated_ratings(generator: np.random.Generator, prompts: int) -> Ratings:
    """Ratings of candidates of different quality and different noise.

    Args:
        generator: What draws.
        prompts: The number of prompts.
    """
    shape = (prompts, 1, CANDIDATES, RATERS)
    quality = generator.normal(0, 0.5, (*shape[:3], 1))
    sigma = np.exp(generator.normal(0, 0.3, (*shape[:3], 1)))
    samples = quality + sigma * generator.normal(size=shape)
    candidates = [str(candidate) for candidate in range(CANDIDATES)]
    return Ratings(
        name="simulated",
        kind="rater",
        prompt_ids=[str(prompt) for prompt in range(prompts)],
        candidate_ids=[candidates] * prompts,
        scorers=[""],
        samples=samples,
        raters=np.broadcast_to(np.arange(RATERS), shape),
        rater_names=[str(rater) for rater in range(RATERS)],
        lengths=np.full((prompts, CANDIDATES), np.nan),
    )


def coverage(prompts: int, files: int) -> list[Row]:
    """Count how often the band and the intervals hold.

    What they should hold is the average of the differences over all simulated files: rules that
    learn from the ratings learn less of few prompts.

    Args:
        prompts: The number of prompts of a file.
        files: The number of files to simulate.
    """
    generator = np.random.default_rng(31)
    settings = ContestSettings(rules=RULES, splits=SPLITS)
    contests = [
        compare_rules(simulated_ratings(generator, prompts), settings) for _ in range(files)
    ]
    judged = [judge(contest, "overall", contest.subsets["overall"]) for contest in contests]
    truth = np.mean([verdict.delta for verdict in judged], axis=0)
    in_band = [
        bool((np.abs(verdict.delta - truth) <= verdict.margin + ROUNDING).all())
        for verdict in judged
    ]
    in_intervals = [_intervals_hold(contest, truth[0]) for contest in contests]
    return [
        Row(f"eval: band, {prompts} prompts", ">= 0.95", float(np.mean(in_band)), files),
        Row(
            f"eval: interval of one change, {prompts} prompts",
            "0.95",
            float(np.mean(in_intervals)),
            files,
        ),
    ]


def _intervals_hold(contest: Contest, truth: Array) -> float:
    """The share of the rules whose interval of the tradeoff's change has the truth."""
    change = contest.tradeoff - contest.tradeoff[:, :1]
    among = contest.subsets["overall"]
    _, (low, high) = estimate(lambda counts: average(change, among, counts), contest.counts)
    holds = (low <= truth) & (truth <= high)
    return float(holds[1:].mean())


def _evaluations(share: float) -> list[Row]:
    files = file_count(FILES, share)
    return [row for prompts in (20, 40, 100) for row in coverage(prompts, files)]


SIMULATIONS: tuple[Simulation, ...] = (_evaluations,)
