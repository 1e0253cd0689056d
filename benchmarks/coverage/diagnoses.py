"""How often `darc diagnose` finds camps and likings of raters, and sees some in noise."""

from collections.abc import Callable

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.latent_groups import find_latent_groups
from darc.analysis.diagnose.rater_likings import measure_likings
from darc.typing import Array

FILES = 400
PERMUTATIONS = 199
MAX_P = 0.05
SEVERITY = 0.4
Shape = tuple[int, int, int]
World = Callable[[np.random.Generator, Shape], Array]
SHAPES: tuple[Shape, ...] = ((30, 4, 4), (30, 4, 8), (60, 6, 6))


def noise_alone(generator: np.random.Generator, shape: Shape) -> Array:
    """Candidates of different quality, raters of different severity, noise with deviation 1.

    Args:
        generator: What draws.
        shape: The numbers of prompts, candidates and raters.
    """
    prompts, candidates, raters = shape
    quality = generator.normal(0, 0.8, (prompts, candidates, 1))
    severity = generator.normal(0, SEVERITY, (1, 1, raters))
    return np.asarray(quality + severity + generator.normal(size=shape))


def noise_with_levels(generator: np.random.Generator, shape: Shape) -> Array:
    """The same where each rater has a level of their own in each prompt."""
    levels = generator.normal(0, 0.6, (shape[0], 1, shape[2]))
    return np.asarray(noise_alone(generator, shape) + levels)


def uneven_noise(generator: np.random.Generator, shape: Shape) -> Array:
    """The same where raters and candidates are unequally noisy."""
    prompts, candidates, raters = shape
    sigma = np.exp(generator.normal(0, 0.4, (prompts, candidates, 1)))
    by_rater = np.linspace(0.6, 1.8, raters)
    quality = generator.normal(0, 0.8, (prompts, candidates, 1))
    return np.asarray(quality + sigma * by_rater * generator.normal(size=shape))


def whole_points(generator: np.random.Generator, shape: Shape) -> Array:
    """The same on a scale of 1 to 5, whose upper end is reached often."""
    return np.clip(np.round(4 + noise_alone(generator, shape)), 1, 5)


def noise_with_camps(generator: np.random.Generator, shape: Shape) -> Array:
    """Two camps of equal size that differ by 1.5 on a third of the answers."""
    prompts, candidates, raters = shape
    side = np.where(np.arange(raters) < raters // 2, 0.75, -0.75)
    disputed = generator.random((prompts, candidates, 1)) < 1 / 3
    sign = generator.choice([-1.0, 1.0], (prompts, candidates, 1))
    return np.asarray(noise_alone(generator, shape) + disputed * sign * side)


def camps_found(world: World, shape: Shape, files: int) -> float:
    """The share of files in which raters are said to fall into two camps.

    Args:
        world: What draws the ratings.
        shape: The numbers of prompts, candidates and raters.
        files: The number of files to simulate.
    """
    generator = np.random.default_rng(21)
    found = 0
    for seed in range(files):
        ratings = _by_candidate(world(generator, shape))
        groups = find_latent_groups(ratings, permutations=PERMUTATIONS, seed=seed)
        found += groups.p_value <= MAX_P and len(groups.first) > 1
    return found / files


def likings_found(world: World, shape: Shape, files: int) -> float:
    """The share of files in which some rater is said to like or dislike a system."""
    generator = np.random.default_rng(22)
    found = 0
    for _ in range(files):
        found += bool(measure_likings(_by_candidate(world(generator, shape))).notable)
    return found / files


def _by_candidate(ratings: Array) -> CandidateRatings:
    """Ratings (prompts, candidates, raters), whose candidates are systems, row by row."""
    prompts, candidates, raters = ratings.shape
    rows = prompts * candidates
    return CandidateRatings(
        values=ratings.reshape(rows, raters),
        raters=np.tile(np.arange(raters), (rows, 1)),
        prompts=np.repeat(np.arange(prompts), candidates),
        prompt_names=[f"prompt {prompt}" for prompt in range(prompts)],
        candidate_names=[f"system {place % candidates}" for place in range(rows)],
        rater_names=[f"rater {rater}" for rater in range(raters)],
        named=True,
    )


def _camps(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    worlds: dict[str, World] = {
        "noise": noise_alone,
        "own levels": noise_with_levels,
        "uneven noise": uneven_noise,
        "1 to 5": whole_points,
    }
    for name, world in worlds.items():
        for shape in SHAPES:
            rate = camps_found(world, shape, files)
            sizes = f"{shape[0]} prompts, {shape[2]} raters"
            rows.append(Row(f"diagnose: false camps, {sizes} ({name})", "<= 0.05", rate, files))
    return rows


def _power(share: float) -> list[Row]:
    files = file_count(FILES // 2, share)
    rows = []
    for shape, camps in (((60, 5, 4), 2), ((30, 3, 8), 4)):
        rate = camps_found(noise_with_camps, shape, files)
        sizes = f"{shape[0]} prompts, two of {camps} raters"
        name = f"diagnose: camps found, 1.5 sd on a third, {sizes}"
        rows.append(Row(name, ">= 0.70", rate, files))
    return rows


def _likings(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for shape in ((20, 3, 5), (60, 5, 8)):
        rate = likings_found(noise_with_levels, shape, files)
        sizes = f"{shape[0]} prompts, {shape[1]} systems, {shape[2]} raters"
        rows.append(Row(f"diagnose: false liking, {sizes}", "<= 0.05", rate, files))
    return rows


SIMULATIONS: list[Simulation] = [_camps, _power, _likings]
