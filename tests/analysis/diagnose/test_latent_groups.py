import re

import numpy as np
import pytest
from benchmarks.coverage.diagnoses import camps_found, noise_alone, noise_with_camps
from tests.analysis.diagnose.panels import Array, noise_only, panel

from darc.analysis.diagnose.latent_groups import find_latent_groups

SIDE = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])


def unequal(seed: int) -> Array:
    draw = np.random.default_rng(seed)
    scale = np.linspace(0.5, 2, 7) * np.exp(draw.normal(0, 0.5, (30, 6, 1)))
    levels = draw.normal(0, 0.4, (30, 1, 7))
    return draw.normal(0, 0.7, (30, 6, 1)) + levels + scale * draw.normal(size=(30, 6, 7))


@pytest.mark.parametrize("kind", ["equal", "unequal"])
def test_noise_is_not_called_groups(kind: str) -> None:
    made = [
        unequal(seed) if kind == "unequal" else noise_only(seed, 30, 6, 7) for seed in range(50)
    ]
    values = np.array([find_latent_groups(panel(one), permutations=99).p_value for one in made])
    assert 0.33 < values.mean() < 0.67
    assert (values <= 0.05).mean() <= 0.12


@pytest.mark.parametrize(("raters", "prompts"), [(8, 30), (4, 60)])
def test_camps_that_differ_on_a_third_of_the_answers_are_found(raters: int, prompts: int) -> None:
    rate = camps_found(noise_with_camps, (prompts, 4, raters), files=40)
    assert rate >= 0.7


def test_noise_is_not_called_camps() -> None:
    assert camps_found(noise_alone, (30, 4, 6), files=200) <= 0.08


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_two_kinds_of_raters_are_found(holes: float) -> None:
    draw = np.random.default_rng(4)
    ratings = noise_only(4, 40, 8, 7, holes) + 0.7 * draw.normal(size=(40, 8, 1)) * SIDE
    found = find_latent_groups(panel(ratings))
    assert found.p_value < 0.01
    assert found.first == ("r0", "r1", "r2")
    assert found.second == ("r3", "r4", "r5", "r6")


def test_a_constant_rater_is_left_out() -> None:
    ratings = noise_only(4, 40, 8, 7) + np.random.default_rng(4).normal(size=(40, 8, 1)) * SIDE
    ratings[..., 6] = 5.0
    found = find_latent_groups(panel(ratings))
    assert {found.first, found.second} == {("r0", "r1", "r2"), ("r3", "r4", "r5")}


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (noise_only(0, raters=3), "4 raters"),
        (noise_only(0, prompts=4), "5 prompts"),
        (noise_only(0, prompts=6, candidates=2), "share fewer than"),
        (np.full((20, 4, 6), 1.0), "tell candidates apart"),
    ],
)
def test_thin_panels_are_refused_with_a_reason(ratings: Array, reason: str) -> None:
    assert re.search(reason, find_latent_groups(panel(ratings)).reason)
