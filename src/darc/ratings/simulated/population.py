"""Simulated people who rate candidates, with a known truth."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from darc.ratings.simulated.recipe import Recipe
from darc.ratings.simulated.truth import Truth, truth
from darc.typing import Array, Integers, Mask

# Candidates, people and noise have streams of their own, so more raters leave the candidates as
# they are.
_CANDIDATE_STREAM = 1
_PEOPLE_STREAM = 2
_NOISE_STREAM = 3


@dataclass(frozen=True, eq=False)
class Population:
    """Ratings of simulated people, with what they were drawn from.

    There are P prompts of K candidates, n raters per prompt and G groups of people.
    """

    recipe: Recipe
    seed: int
    #: The ratings (P, K, n), NaN where missing.
    ratings: Array
    #: What each candidate is worth to the average person before the scale's ends and rounding,
    #: (P, K).
    quality: Array
    #: The same for each group, (P, K, G).
    centre: Array
    #: The scale of the noise of each candidate's ratings, (P, K).
    scale: Array
    #: The candidates that divide the groups, (P, K).
    polarising: Mask
    #: The size of the feature that a proxy may like, (P, K).
    exploit: Array
    #: Who rated a prompt, (P, n), as a number of a person.
    rater: Integers
    #: The group and the severity of each person.
    group: Integers
    severity: Array

    @cached_property
    def truth(self) -> Truth:
        """What all people think of each candidate: computed, not estimated from the ratings."""
        return truth(self.recipe, self.centre, self.scale)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """What candidates are like; see the fields of `Population`."""

    quality: Array
    centre: Array
    scale: Array
    polarising: Mask
    exploit: Array


@dataclass(frozen=True, eq=False)
class _People:
    """Who rates what; see the fields of `Population`."""

    rater: Integers
    group: Integers
    severity: Array


def simulate(recipe: Recipe, seed: int = 0) -> Population:
    """Draw a population; the same recipe and seed give the same numbers.

    Args:
        recipe: What the people and the candidates are like.
        seed: The seed of all draws.

    Returns:
        The candidates, their ratings, and what all people really think of them.
    """
    candidates = _draw_candidates(recipe, np.random.default_rng([seed, _CANDIDATE_STREAM]))
    people = _draw_people(recipe, np.random.default_rng([seed, _PEOPLE_STREAM]))
    noise = np.random.default_rng([seed, _NOISE_STREAM])
    group_of_rater = people.group[people.rater]
    severity_of_rater = people.severity[people.rater]
    opinion = np.take_along_axis(candidates.centre, group_of_rater[:, None, :], axis=2)
    opinion = opinion + severity_of_rater[:, None, :]
    opinion = opinion + candidates.scale[..., None] * _draw_noise(recipe, noise)
    ratings = on_scale(recipe, opinion)
    if recipe.missing:
        keys = noise.random(ratings.shape)
        # Every candidate has at least one rating.
        is_missing = (keys < recipe.missing) & (keys < keys.max(axis=-1, keepdims=True))
        ratings[is_missing] = np.nan
    return Population(
        recipe=recipe,
        seed=seed,
        ratings=ratings,
        quality=candidates.quality,
        centre=candidates.centre,
        scale=candidates.scale,
        polarising=candidates.polarising,
        exploit=candidates.exploit,
        rater=people.rater,
        group=people.group,
        severity=people.severity,
    )


def on_scale(recipe: Recipe, opinions: Array) -> Array:
    """Opinions as the scale's ratings: clipped, and rounded to a step."""
    inside = np.clip(opinions, recipe.low, recipe.high)
    if not recipe.step:
        return inside
    steps = np.floor((inside - recipe.low) / recipe.step + 0.5)
    return np.asarray(recipe.low + recipe.step * steps)


def _draw_candidates(recipe: Recipe, generator: np.random.Generator) -> _Candidates:
    """Draw what the candidates are like."""
    shape = (recipe.prompts, recipe.candidates)
    per_prompt = (recipe.prompts, 1)
    quality = recipe.location + recipe.prompt_spread * generator.standard_normal(per_prompt)
    quality = quality + recipe.candidate_spread * generator.standard_normal(shape)
    unevenness = recipe.uneven_prompts * generator.standard_normal(per_prompt)
    unevenness = unevenness + recipe.uneven * generator.standard_normal(shape)
    polarising = generator.random(shape) < recipe.polarising
    feature_size = generator.exponential(size=shape)
    exploit = feature_size * (generator.random(shape) < recipe.exploiting)
    quality = quality + recipe.lure * polarising - recipe.harm * exploit
    shares = np.array(recipe.groups)
    tastes = recipe.taste * generator.standard_normal((*shape, len(shares)))
    tastes[..., -1] -= np.where(polarising, recipe.gap, 0.0)
    # Less their mean over people, so that quality is what the average person thinks.
    centred_tastes = tastes - (tastes @ shares)[..., None]
    return _Candidates(
        quality=quality,
        centre=quality[..., None] + centred_tastes,
        scale=recipe.noise * np.exp(unevenness),
        polarising=polarising,
        exploit=exploit,
    )


def _draw_people(recipe: Recipe, generator: np.random.Generator) -> _People:
    """Draw who rates each prompt; groups have their shares as nearly as whole people allow."""
    prompts = recipe.prompts
    raters = recipe.raters
    crowd = recipe.crowd or prompts * raters
    places = (np.arange(crowd) + 0.5) / crowd
    group = np.searchsorted(np.cumsum(recipe.groups)[:-1], places, side="right").astype(np.int64)
    group = generator.permutation(group)
    severity = recipe.severity * generator.standard_normal(crowd)
    if not recipe.crowd:
        rater = np.arange(crowd).reshape(prompts, raters)
    elif recipe.crowd == raters:
        rater = np.broadcast_to(np.arange(raters), (prompts, raters))
    else:
        keys = generator.random((prompts, crowd))
        rater = np.argpartition(keys, raters - 1, axis=1)[:, :raters]
    return _People(rater, group, severity)


def _draw_noise(recipe: Recipe, generator: np.random.Generator) -> Array:
    """Student's t numbers (P, K, n); those of one rater and prompt correlate by `leaning`."""
    shape = (recipe.prompts, recipe.candidates, recipe.raters)
    errors = generator.standard_normal(shape)
    if recipe.leaning:
        common = generator.standard_normal((recipe.prompts, 1, recipe.raters))
        errors *= math.sqrt(1.0 - recipe.leaning)
        errors += math.sqrt(recipe.leaning) * common
    if math.isfinite(recipe.df):
        errors *= np.sqrt(recipe.df / generator.chisquare(recipe.df, errors.shape))
    return errors
