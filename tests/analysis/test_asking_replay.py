from pathlib import Path

import numpy as np
import pytest
from tests.analysis.test_next_ratings import simulated, write_ratings

from darc.analysis.asking_replay import (
    ReplayPools,
    ask_alike,
    ask_in_waves,
    ask_one_by_one,
    simulated_pools,
    split_raters,
)
from darc.errors import InputError
from darc.ratings.simulated import preset, simulate


@pytest.fixture(scope="module")
def pools() -> ReplayPools:
    people = preset("doubtful").changed({"prompts": 80}).people
    return simulated_pools(simulate(people, 3))


def test_the_same_number_of_each(pools: ReplayPools) -> None:
    replayed = ask_alike(pools, 3)
    assert (replayed.asked == 3 * 8).all()
    mean = pools.ratings[:, :, :3].mean(axis=2)
    assert replayed.choice.tolist() == mean.argmax(axis=1).tolist()


def test_waves_keep_to_the_budget_and_rate_everything_once(pools: ReplayPools) -> None:
    free = ask_in_waves(pools, 2.0, 0.0)
    assert free.asked.sum() == 2 * 8 * 80
    assert free.asked.min() >= 8
    priced = ask_in_waves(pools, 6.0, 0.005)
    assert priced.asked.sum() < 4 * 8 * 80


def test_a_higher_price_takes_fewer_ratings_and_gains_less(pools: ReplayPools) -> None:
    asked = []
    gains = []
    for price in (0.02, 0.005, 0.001):
        replayed = ask_one_by_one(pools, price)
        asked.append(replayed.asked.mean())
        gains.append(pools.gain(replayed.choice).mean())
    assert asked == sorted(asked)
    assert gains[0] < gains[2]


def test_those_who_judge_do_not_choose(tmp_path: Path) -> None:
    ratings = simulated(tmp_path / "ratings.csv", count=8)
    pools = split_raters(ratings, 1)
    assert pools.ratings.shape == (12, 5, 5)
    given = ratings.samples[:, 0]
    for prompt in range(12):
        chosen = set(pools.raters.codes[prompt, 0].tolist())
        assert len(chosen) == 5
        judges = ~np.isin(ratings.raters[prompt, 0], list(chosen))
        assert judges.sum(axis=1).tolist() == [3] * 5
    chosen_mean = pools.ratings.mean(axis=2)
    judged_mean = (given.sum(axis=2) - pools.ratings.sum(axis=2)) / 3
    correlation = np.corrcoef(pools.worth.ravel(), (judged_mean - chosen_mean).ravel())[0, 1]
    assert correlation > 0.3


def test_too_few_ratings_are_refused(tmp_path: Path) -> None:
    rows = [(f"p{p}", f"c{c}", f"r{c}", 1.0 * c) for p in range(6) for c in range(3)]
    ratings = write_ratings(tmp_path / "once.csv", rows)
    with pytest.raises(InputError, match="too few ratings"):
        split_raters(ratings, 0)
