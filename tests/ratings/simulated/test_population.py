from dataclasses import replace

import numpy as np
import pytest

from darc.errors import InputError
from darc.ratings.simulated import Recipe, preset, simulate

POLARISED = preset("polarised").people


def test_ratings_are_on_the_scale_and_seeded() -> None:
    one = simulate(POLARISED, 1)
    same = simulate(POLARISED, 1)
    other = simulate(POLARISED, 2)
    assert one.ratings.shape == (200, 8, 9)
    assert np.array_equal(one.ratings, np.rint(one.ratings))
    assert one.ratings.min() >= 0
    assert one.ratings.max() <= 10
    assert np.array_equal(one.ratings, same.ratings)
    assert np.array_equal(one.truth.mean, same.truth.mean)
    assert not np.array_equal(one.ratings, other.ratings)


def test_more_raters_rate_the_same_candidates() -> None:
    few = simulate(POLARISED, 5)
    many = simulate(replace(POLARISED, raters=30), 5)
    assert np.array_equal(few.centre, many.centre)
    assert np.array_equal(few.truth.mean, many.truth.mean)


def test_polarising_candidates_divide_the_groups() -> None:
    people = simulate(replace(POLARISED, prompts=400, crowd=9, noise=0.5), seed=3)
    assert np.bincount(people.group).tolist() == [6, 3]
    by_group = [people.ratings[..., people.group == g].mean(axis=2) for g in (0, 1)]
    gap = by_group[0] - by_group[1]
    assert gap[people.polarising].mean() > 3
    assert abs(gap[~people.polarising].mean()) < 0.6
    sigma = people.ratings.std(axis=2, ddof=1)
    assert sigma[people.polarising].mean() > 1.8 * sigma[~people.polarising].mean()


def test_who_rates_what() -> None:
    own = simulate(Recipe(prompts=10, raters=3), 0)
    assert len(np.unique(own.rater)) == 30
    panel = simulate(Recipe(prompts=10, raters=3, crowd=3), 0)
    assert (panel.rater == [0, 1, 2]).all()
    crowd = simulate(Recipe(prompts=200, raters=3, crowd=20), 0)
    assert all(len(set(row)) == 3 for row in crowd.rater.tolist())
    assert len(np.unique(crowd.rater)) == 20


def test_severity_follows_the_rater_over_prompts() -> None:
    people = simulate(Recipe(prompts=400, raters=4, crowd=4, severity=1.0, noise=0.3), 1)
    seen = people.ratings.mean(axis=(0, 1))
    expected = people.severity - people.severity.mean()
    assert np.abs(seen - seen.mean() - expected).max() < 0.15


def test_leaning_correlates_one_raters_noise_within_a_prompt() -> None:
    recipe = Recipe(prompts=3000, candidates=2, raters=2, severity=0.0, noise=0.8, step=0.0)

    def correlation(leaning: float) -> float:
        people = simulate(replace(recipe, leaning=leaning), 2)
        errors = people.ratings - people.quality[..., None]
        return float(np.corrcoef(errors[:, 0, 0], errors[:, 1, 0])[0, 1])

    assert abs(correlation(0.0)) < 0.06
    assert correlation(0.7) == pytest.approx(0.7, abs=0.05)


def test_missing_ratings_leave_at_least_one() -> None:
    ratings = simulate(Recipe(prompts=300, raters=3, missing=0.6), 0).ratings
    assert np.isnan(ratings).mean() == pytest.approx(0.6, abs=0.1)
    assert (~np.isnan(ratings)).any(axis=2).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prompts": 0}, "prompts must be a whole number of at least 1"),
        ({"raters": 2.5}, "raters must be a whole number"),
        ({"crowd": 3}, "cannot give 5 raters"),
        ({"groups": (0.5, 0.6)}, "sum to 1.1"),
        ({"groups": ()}, "shares above 0"),
        ({"df": 2.0}, "above 2"),
        ({"noise": -1.0}, "0 or larger"),
        ({"noise": float("nan")}, "0 or larger"),
        ({"location": float("inf")}, "must be finite"),
        ({"polarising": 1.5}, r"\[0, 1\]"),
        ({"missing": 1.0}, r"\[0, 1\)"),
        ({"low": 5.0, "high": 5.0}, "empty"),
        ({"step": 0.3}, "do not fill the scale"),
        ({"prompts": 10**9}, "too many"),
    ],
)
def test_settings_are_checked(settings: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Recipe(**settings)  # type: ignore[arg-type]
