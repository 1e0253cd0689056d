"""Rater populations with a known truth, and scorers that stand in for people."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from darc.ratings.simulated.recipe import ProxyRecipe, Recipe
from darc.ratings.simulated.truth import Truth, truth
from darc.typing import Array, Integers


@dataclass(frozen=True, eq=False)
class Population:
    """Ratings (P, K, n) of simulated people, NaN where missing, with what they were drawn from.

    `quality` (P, K) is what each candidate is worth to the average person before the scale's ends
    and rounding; `centre` (P, K, G) the same for each group; `scale` (P, K) the noise of its
    ratings; `polarising` (P, K) marks candidates that divide the groups; `exploit` (P, K) is the
    size of the feature that a proxy may like. `rater` (P, n) says who rated a prompt, as a number
    of a person, and `group` and `severity` are each person's.
    """

    recipe: Recipe
    seed: int
    ratings: Array
    quality: Array
    centre: Array
    scale: Array
    polarising: NDArray[np.bool_]
    exploit: Array
    rater: Integers
    group: Integers
    severity: Array

    @cached_property
    def truth(self) -> Truth:
        """What all people think of each candidate: computed, not estimated from the ratings."""
        return truth(self.recipe, self.centre, self.scale)


def simulate(recipe: Recipe, seed: int = 0) -> Population:
    """A `Population` drawn by a recipe; the same recipe and seed give the same numbers.

    Candidates, people and noise have streams of their own, so more raters leave the candidates as
    they are.
    """
    things, people, noise = (np.random.default_rng([seed, stream]) for stream in (1, 2, 3))
    shape = (recipe.prompts, recipe.candidates)
    quality = recipe.location + recipe.prompt_spread * things.standard_normal((shape[0], 1))
    quality = quality + recipe.candidate_spread * things.standard_normal(shape)
    factors = recipe.uneven_prompts * things.standard_normal((shape[0], 1))
    scale = recipe.noise * np.exp(factors + recipe.uneven * things.standard_normal(shape))
    polarising = things.random(shape) < recipe.polarising
    exploit = things.exponential(size=shape) * (things.random(shape) < recipe.exploiting)
    quality = quality + recipe.lure * polarising - recipe.harm * exploit
    shares = np.array(recipe.groups)
    tastes = recipe.taste * things.standard_normal((*shape, len(shares)))
    tastes[..., -1] -= np.where(polarising, recipe.gap, 0.0)
    # Their mean over people is 0.
    centre = quality[..., None] + (tastes - (tastes @ shares)[..., None])
    rater, group, severity = _people(recipe, people)
    wishes = np.take_along_axis(centre, group[rater][:, None, :], axis=2)
    wishes = wishes + severity[rater][:, None, :]
    ratings = on_scale(recipe, wishes + scale[..., None] * _noise(recipe, noise))
    if recipe.missing:
        keys = noise.random(ratings.shape)
        # Every candidate keeps at least one.
        gone = (keys < recipe.missing) & (keys < keys.max(axis=-1, keepdims=True))
        ratings[gone] = np.nan
    drawn = (quality, centre, scale, polarising, exploit, rater, group, severity)
    return Population(recipe, seed, ratings, *drawn)


def on_scale(recipe: Recipe, wishes: Array) -> Array:
    """Wishes as the scale's ratings: clipped, and rounded to a step."""
    inside = np.clip(wishes, recipe.low, recipe.high)
    if not recipe.step:
        return inside
    steps = np.floor((inside - recipe.low) / recipe.step + 0.5)
    return np.asarray(recipe.low + recipe.step * steps)


def _people(recipe: Recipe, people: np.random.Generator) -> tuple[Integers, Integers, Array]:
    """Who rates each prompt (P, n), and each person's group and severity.

    Groups have their shares of the crowd as nearly as whole people allow.
    """
    prompts, raters = recipe.prompts, recipe.raters
    crowd = recipe.crowd or prompts * raters
    places = (np.arange(crowd) + 0.5) / crowd
    group = np.searchsorted(np.cumsum(recipe.groups)[:-1], places, side="right").astype(np.int64)
    group = people.permutation(group)
    severity = recipe.severity * people.standard_normal(crowd)
    if not recipe.crowd:
        rater = np.arange(crowd).reshape(prompts, raters)
    elif recipe.crowd == raters:
        rater = np.broadcast_to(np.arange(raters), (prompts, raters))
    else:
        keys = people.random((prompts, crowd))
        rater = np.argpartition(keys, raters - 1, axis=1)[:, :raters]
    return rater, group, severity


def _noise(recipe: Recipe, noise: np.random.Generator) -> Array:
    """Student's t numbers (P, K, n); those of one rater and prompt correlate by `leaning`."""
    prompts, candidates, raters = recipe.prompts, recipe.candidates, recipe.raters
    errors = noise.standard_normal((prompts, candidates, raters))
    if recipe.leaning:
        common = noise.standard_normal((prompts, 1, raters))
        errors *= math.sqrt(1.0 - recipe.leaning)
        errors += math.sqrt(recipe.leaning) * common
    if math.isfinite(recipe.df):
        errors *= np.sqrt(recipe.df / noise.chisquare(recipe.df, errors.shape))
    return errors


@dataclass(frozen=True, eq=False)
class Proxy:
    """Scores (P, M, K, n) of each candidate's original (the first sample) and rewrites.

    `log_likelihood` (P, K) is the candidates' mean per token under the policy that wrote them.
    """

    samples: Array
    log_likelihood: Array


def proxy_scores(population: Population, recipe: ProxyRecipe, seed: int | None = None) -> Proxy:
    """The `Proxy` of a population; seeded by the population unless told otherwise.

    The scores are on the people's scale, not clipped to it.
    """
    start = population.seed if seed is None else seed
    errors, spreads, rewrites, words = (
        np.random.default_rng([start, stream]) for stream in (11, 12, 13, 14)
    )
    true = population.truth
    prompts, candidates = true.mean.shape
    size = recipe.rewrites + 1
    common = math.sqrt(recipe.shared) * errors.standard_normal((prompts, 1, candidates))
    own = math.sqrt(1 - recipe.shared) * errors.standard_normal(
        (prompts, recipe.scorers, candidates)
    )
    centre = true.mean[:, None, :] + recipe.error * (common + own)
    logs = np.log(np.maximum(true.sigma, 1e-9))
    # Where sigmas hardly differ there is nothing to track.
    differ = float(logs.std()) if logs.std() >= 1e-6 else math.inf
    height = recipe.tracking * ((logs - logs.mean()) / differ)
    other = math.sqrt(1 - recipe.tracking**2) * spreads.standard_normal((prompts, candidates))
    spread = recipe.spread * np.exp(recipe.uneven * (height + other))
    samples = centre[..., None] + spread[:, None, :, None] * rewrites.standard_normal(
        (prompts, recipe.scorers, candidates, size)
    )
    kept = 1.0 - recipe.fragility * rewrites.random((prompts, candidates, size))
    kept[..., 0] = 1.0
    fooled = np.arange(recipe.scorers) < round(recipe.fooled * recipe.scorers)
    gain = recipe.bias * population.exploit[..., None] * kept
    samples += np.where(fooled[:, None, None], gain[:, None], 0.0)
    chance = -1.0 + 0.2 * words.standard_normal((prompts, candidates))
    return Proxy(samples, chance - recipe.oddity * population.exploit)
