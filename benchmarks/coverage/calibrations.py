"""How often the intervals of `darc calibrate` hold what was put in."""

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.decide.ids import Ids
from darc.decide.model.intervals import with_intervals
from darc.decide.model.learning import learn
from darc.typing import Array

FILES = 400
# Prompts of the file that shows what the estimate tends to.
MANY_PROMPTS = 6000
WORLDS = ("equal sigmas", "different sigmas", "skewed", "1 to 5", "two camps")
Shape = tuple[int, int, int]
SHAPES: tuple[Shape, ...] = ((20, 5, 5), (60, 5, 4), (100, 5, 8))
SEVERITY = 0.4


def simulated_ratings(generator: np.random.Generator, world: str, shape: Shape) -> Array:
    """Ratings (prompts, candidates, raters) of one of the `WORLDS`.

    Args:
        generator: What draws.
        world: How the disagreement about candidates differs.
        shape: The numbers of prompts, candidates and raters.
    """
    prompts, candidates, raters = shape
    cell = (prompts, candidates, 1)
    quality = generator.normal(0, 0.8, cell)
    noise = generator.normal(size=shape)
    if world == "equal sigmas":
        return quality + noise
    if world == "two camps":
        side = np.where(np.arange(raters) % 2, 1.0, -1.0)
        return quality + 0.7 * side * generator.normal(size=cell) + 0.7 * noise
    sigma = np.exp(generator.normal(0, 0.4, cell))
    if world == "skewed":
        return quality - sigma * generator.exponential(size=shape)
    if world == "1 to 5":
        return np.clip(np.round(3.5 + quality + sigma * noise), 1, 5)
    return quality + sigma * noise


def reliability_coverage(world: str, shape: Shape, files: int) -> float:
    """How often the interval of the reliability holds what many prompts show.

    Args:
        world: One of `WORLDS`.
        shape: The numbers of prompts, candidates and raters.
        files: The number of files to simulate.
    """
    generator = np.random.default_rng(11)
    truth = 0.0
    if world != "equal sigmas":
        many = simulated_ratings(generator, world, (MANY_PROMPTS, *shape[1:]))
        truth = learn(many).reliability
    covered = 0
    for _ in range(files):
        ratings = simulated_ratings(generator, world, shape)
        calibration = with_intervals(learn(ratings), ratings, None, None)
        low, high = calibration.intervals["reliability"]
        covered += low <= truth <= high
    return covered / files


def severity_coverage(shape: Shape, raters: int, files: int) -> float:
    """How often the interval of a rater's severity holds the severity.

    Args:
        shape: The numbers of prompts, candidates and ratings of each candidate.
        raters: How many raters there are, of whom each prompt has as many as it has ratings.
        files: The number of files to simulate.
    """
    generator = np.random.default_rng(12)
    prompts, candidates, ratings_each = shape
    covered = []
    for _ in range(files):
        severity = generator.normal(0, SEVERITY, raters)
        lots = generator.random((prompts, 1, raters)).argsort(axis=2)[..., :ratings_each]
        codes = np.repeat(lots, candidates, axis=1)
        ratings = simulated_ratings(generator, "equal sigmas", shape) + severity[codes]
        ids = Ids(codes, tuple(map(str, range(raters))))
        calibration = with_intervals(learn(ratings, ids), ratings, ids, None)
        truth = severity - np.average(severity, weights=np.bincount(codes.ravel()))
        for rater, error in calibration.rater_errors.items():
            deviation = calibration.raters[rater] - truth[int(rater)]
            covered.append(abs(deviation) <= 1.96 * error)
    return float(np.mean(covered))


def _reliabilities(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for world in WORLDS:
        for shape in SHAPES:
            rate = reliability_coverage(world, shape, files)
            name = f"calibrate: reliability, {shape[0]} prompts, {shape[2]} raters ({world})"
            rows.append(Row(name, "0.95", rate, files))
    return rows


def _severities(share: float) -> list[Row]:
    files = file_count(FILES // 4, share)
    rows = []
    for shape, raters in (((40, 5, 4), 4), ((40, 5, 4), 8), ((100, 3, 3), 30)):
        rate = severity_coverage(shape, raters, files)
        name = f"calibrate: severity, {shape[0]} prompts, {shape[2]} of {raters} raters each"
        rows.append(Row(name, "0.95", rate, files))
    return rows


SIMULATIONS: list[Simulation] = [_reliabilities, _severities]
