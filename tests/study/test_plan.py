from typing import Any

import numpy as np
import pytest
from scipy import stats

from darc.study.plan import Design, plan


def design(**given: object) -> Design:
    base = {
        "prompts": tuple(i // 2 for i in range(60)),
        "attention": 6,
        "gold": 6,
        "ratings": 5,
        "panel": 20,
        "share": 0.1,
        "seed": 3,
    }
    return Design(**{**base, **given})  # type: ignore[arg-type]


def flipped(made: dict[str, Any]) -> list[bool]:
    return [each == "1" for each in made["flipped"]]


def test_plan_is_the_same_again_and_another_with_another_seed() -> None:
    assert plan(design(), 4) == plan(design(), 4)
    assert plan(design(), 4)["order"] != plan(design(seed=4), 4)["order"]
    assert plan(design(), 4)["order"] != plan(design(), 5)["order"]


def test_every_plan_orders_every_item_once() -> None:
    for number in range(25):
        assert sorted(plan(design(), number)["order"]) == list(range(60))


def test_the_own_share_comes_first_and_every_prompt_is_in_as_many_shares_as_ratings() -> None:
    made = design()
    counts = np.zeros(30, dtype=int)
    for number in range(20):
        own = made.shares[number]
        counts[list(own)] += 1
        head = {made.prompts[item] for item in plan(made, number)["order"][: 2 * len(own)]}
        assert head == own
    assert set(counts.tolist()) == {5}


def test_sides_are_balanced_within_people_and_within_items() -> None:
    flips = np.array([flipped(plan(design(), number)) for number in range(200)])
    assert set(flips.sum(axis=1).tolist()) == {30}
    assert set(flips.sum(axis=0).tolist()) == {100}


def test_sides_are_independent_of_items_of_order_and_of_each_other() -> None:
    made = design(panel=5)
    plans = [plan(made, number) for number in range(0, 2000, 2)]
    flips = np.array([flipped(each) for each in plans])
    chi = ((flips.sum(axis=0) - 500.0) ** 2 / 250.0).sum()
    assert 0.001 < stats.chi2.sf(chi * 60 / 60, 59) < 0.999
    place = np.array([np.argsort(each["order"]) for each in plans])
    left = place[flips].mean(), place[~flips].mean()
    assert abs(left[0] - left[1]) < 4 * place.std() / np.sqrt(place.size / 2)
    pairs = np.corrcoef(flips[:, :20].T.astype(float))[np.triu_indices(20, 1)]
    assert abs(pairs.mean() + 1 / 59) < 4 / np.sqrt(1000 * pairs.size)


def test_order_does_not_depend_on_the_item() -> None:
    made = design(panel=5)
    place = np.array([np.argsort(plan(made, number)["order"]) for number in range(600)])
    assert stats.kstest(place.ravel() + 0.5, stats.uniform(0, 60).cdf).pvalue > 1e-3
    assert stats.f_oneway(*place.T).pvalue > 1e-3
    neighbours = np.array([stats.spearmanr(place[i], place[i + 1])[0] for i in range(599)])
    assert abs(neighbours.mean()) < 4 * neighbours.std() / np.sqrt(599)


def test_checks_come_at_their_share_of_both_kinds_and_never_twice() -> None:
    made = design(attention=20, gold=20)
    counts = []
    for number in range(50):
        checks = plan(made, number)["checks"]
        assert [after for after, _, _ in checks] == sorted(after for after, _, _ in checks)
        assert len({check for _, check, _ in checks}) == len(checks)
        counts.append(len(checks))
        kinds = [check < 20 for _, check, _ in checks]
        assert abs(sum(kinds) - len(kinds) / 2) <= 2
    assert np.mean(counts) / (60 + np.mean(counts)) == pytest.approx(0.1, abs=0.015)


def test_a_small_pool_of_checks_is_spread_over_what_is_expected() -> None:
    made = design(prompts=tuple(range(100)), panel=5, attention=2, gold=0)
    for number in range(20):
        first, second = (after for after, _, _ in plan(made, number)["checks"])
        assert first < 50 <= second


def test_no_share_means_no_checks() -> None:
    assert plan(design(share=0.0), 0)["checks"] == []
    assert plan(design(attention=0, gold=0), 0)["checks"] == []


def test_everybody_in_a_small_study_has_a_check() -> None:
    small = design(prompts=(0, 0, 1, 1, 2, 2), attention=4, gold=0, ratings=2, panel=3)
    for number in range(200):
        (after, *_), *_ = plan(small, number)["checks"]
        assert after < 4, "each is expected to rate four of the six items"
