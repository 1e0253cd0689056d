import numpy as np
import pytest

from darc.decide.statistics import risk
from darc.ratings.simulated import PRESETS, Recipe, simulate

EVERYTHING = Recipe(
    prompts=4,
    candidates=5,
    raters=60_000,
    groups=(0.5, 0.3, 0.2),
    location=7.5,
    taste=0.6,
    severity=0.5,
    noise=0.7,
    df=4.0,
    uneven_prompts=0.3,
    uneven=0.4,
    leaning=0.3,
    polarising=0.4,
    gap=3.0,
    lure=0.3,
    exploiting=0.5,
    harm=0.7,
    missing=0.1,
)


@pytest.mark.parametrize("step", [1.0, 0.5, 0.0])
def test_truth_is_what_many_raters_say(step: float) -> None:
    recipe = Recipe(**{**vars(EVERYTHING), "step": step})
    people = simulate(recipe, seed=4)
    true = people.truth
    ratings = people.ratings
    root = np.sqrt((~np.isnan(ratings)).sum(axis=2))
    slack = 0.001 if step == 0 else 1e-9
    assert (np.abs(true.mean - np.nanmean(ratings, axis=2)) < 5 * true.sigma / root + slack).all()
    assert np.abs(true.sigma / np.nanstd(ratings, axis=2) - 1).max() < 0.03
    for beta in (0.2, 1.0):
        weight = np.exp(-beta * ratings)
        error = np.nanstd(weight, axis=2) / np.nanmean(weight, axis=2) / (beta * root)
        gap = np.abs(true.value(beta) - risk.entropic_value(ratings, beta))
        assert (gap < 5 * error + slack).all()
    assert np.abs(true.cvar(0.1) - risk.cvar(ratings, 0.1)).max() < 0.08


def test_chances_are_chances() -> None:
    for one in PRESETS.values():
        true = simulate(one.people, seed=1).truth
        assert (true.chances >= 0).all()
        assert np.abs(true.chances.sum(axis=-1) - 1).max() < 1e-9
        assert (true.value(1.0) <= true.mean + 1e-9).all()
        assert (true.cvar(0.1) <= true.mean + 1e-9).all()
        assert np.abs(true.cvar(1.0) - true.mean).max() < 1e-6


def test_certain_ratings() -> None:
    recipe = Recipe(prompts=2, candidates=2, severity=0.0, noise=0.0, step=1.0)
    people = simulate(recipe, seed=0)
    assert np.array_equal(people.truth.mean, people.ratings[..., 0])
    assert np.abs(people.truth.sigma).max() == 0
