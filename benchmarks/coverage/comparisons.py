"""How often `darc compare` ranks systems that are equal, and separates those that are not."""

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.analysis.compare.leaderboard import FEW_RATERS
from darc.analysis.compare.system_means import RatedSystems, fit_systems

FILES = 400


def simulated_systems(
    generator: np.random.Generator,
    shape: tuple[int, int, int],
    liking: float,
    difference: float = 0.0,
) -> RatedSystems:
    """Ratings whose noise within a candidate has the deviation 1.

    Args:
        generator: What draws.
        shape: The numbers of prompts, systems and raters.
        liking: The deviation of what a rater likes about a system.
        difference: How far the first system is ahead.
    """
    prompts, systems, raters = shape
    quality = np.zeros(systems)
    quality[0] = difference
    values = quality[None, :, None] + generator.normal(0, 1, (prompts, 1, 1))
    values = values + generator.normal(0, liking, (1, systems, raters))
    values = values + generator.normal(0, 1, shape)
    prompt, system, rater = np.indices(shape)
    return RatedSystems(
        prompt=prompt.ravel(),
        system=system.ravel(),
        rater=rater.ravel(),
        value=values.ravel(),
        prompts=prompts,
        systems=systems,
        raters=raters,
    )


def false_rank_rate(shape: tuple[int, int, int], liking: float, files: int) -> float:
    """The share of files of equal systems in which some system is ahead of another."""
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(files):
        wrong += bool(fit_systems(simulated_systems(generator, shape, liking)).band().ahead.any())
    return wrong / files


def separation_rate(shape: tuple[int, int, int], difference: float, files: int) -> float:
    """The share of files in which the first system is ahead of the second."""
    generator = np.random.default_rng(8)
    right = 0
    for _ in range(files):
        rated = simulated_systems(generator, shape, 0.0, difference)
        right += bool(fit_systems(rated).band().ahead[0, 1])
    return right / files


def _allowed(raters: int, liking: float) -> str:
    """The rate of false ranks that is accepted."""
    if raters <= FEW_RATERS:
        return "<= 0.40"
    if liking > 0:
        return "<= 0.12"
    return "<= 0.05"


def _false_ranks(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for systems in (3, 5, 10):
        for raters in (3, 4, 6, 12):
            for liking in (0.0, 0.4):
                rate = false_rank_rate((60, systems, raters), liking, files)
                name = f"compare: false rank, {systems} systems, {raters} raters, liking {liking:g}"
                rows.append(Row(name, _allowed(raters, liking), rate, files))
    return rows


def _power(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rate = separation_rate((60, 3, 6), 0.5, files)
    return [Row("compare: 0.5 sd told apart, 3 systems, 6 raters", ">= 0.80", rate, files)]


SIMULATIONS: list[Simulation] = [_false_ranks, _power]
