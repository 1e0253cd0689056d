"""How well adaptive studies choose, and how many ratings they take, on simulated people."""

import math

import numpy as np
import pytest

import darc
from darc.decide.ids import UNKNOWN
from darc.study.wave_planning import (
    WAVE_SHARE,
    Crowd,
    StudyRatings,
    believe,
    pilot_counts,
    plan_wave,
    rater_order,
)
from darc.typing import Array

PROMPTS, CANDIDATES, PEOPLE, PLANNED = 100, 8, 10, 4


def simulate(seed: int, price: float) -> tuple[float, float, float]:
    """The share of the planned ratings, and the true means of both designs' choices."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(0, 1, (PROMPTS, CANDIDATES))
    level = generator.normal(5, 0.7, (PROMPTS, 1, 1))
    severity = generator.normal(0, 0.8, PEOPLE)
    noise = generator.normal(0, math.sqrt(3), (PROMPTS, CANDIDATES, PEOPLE))
    opinions = np.clip(np.round(truth[..., None] + level + severity + noise), 0, 10)
    order = [rater_order(seed, prompt, PEOPLE) for prompt in range(PROMPTS)]
    pilot = pilot_counts(PROMPTS, seed)
    raters = {
        (prompt, candidate): list(order[prompt][: pilot[prompt]])
        for prompt in range(PROMPTS)
        for candidate in range(CANDIDATES)
    }
    everything = np.ones(truth.shape, dtype=bool)
    planned = PROMPTS * CANDIDATES * PLANNED
    while True:
        data = table(opinions, raters, pilot)
        total = int(np.isfinite(data.ratings).sum())
        requests = plan_wave(
            belief=believe(data),
            crowd=Crowd(order, raters),
            is_candidate=everything,
            size=math.ceil(WAVE_SHARE * planned),
            budget=planned - total,
            price=price,
        )
        if not requests:
            break
        for request in requests:
            assert request.rater is not None
            raters[request.prompt, request.candidate].append(request.rater)
    fixed_raters = {
        (prompt, candidate): list(order[prompt][:PLANNED]) for prompt, candidate in raters
    }
    fixed = table(opinions, fixed_raters, pilot)
    return total / planned, chosen_truth(truth, data), chosen_truth(truth, fixed)


def table(
    opinions: Array, raters: dict[tuple[int, int], list[int]], pilot: np.ndarray
) -> StudyRatings:
    most = max(map(len, raters.values()))
    ratings = np.full((PROMPTS, CANDIDATES, most), np.nan)
    codes = np.full(ratings.shape, UNKNOWN)
    for (prompt, candidate), people in raters.items():
        ratings[prompt, candidate, : len(people)] = opinions[prompt, candidate, people]
        codes[prompt, candidate, : len(people)] = people
    everything = np.ones(ratings.shape[:2], dtype=bool)
    return StudyRatings(ratings, codes, everything, pilot, np.zeros(everything.shape))


def chosen_truth(truth: Array, data: StudyRatings) -> float:
    """The mean true mean of what the default rule chooses."""
    choices = [each.index for each in darc.select_batch(data.ratings, rater_ids=data.raters)]
    return float(truth[np.arange(PROMPTS), choices].mean())


@pytest.mark.slow
def test_fewer_ratings_choose_as_well_as_a_fixed_design() -> None:
    results = np.array([simulate(seed, price=0.004) for seed in range(12)])
    share, adaptive, fixed = results.mean(axis=0)
    print(f"{share:.2f} of the ratings; true mean of the choices {adaptive:.3f}, fixed {fixed:.3f}")
    assert results[:, 0].max() < 0.85
    assert share < 0.7
    assert adaptive >= fixed
