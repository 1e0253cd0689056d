import numpy as np
import pytest
from tests.decide.evidence.reference import load_reference
from tests.decide.evidence.worlds import judged_world

from darc.decide.evidence.prediction import learn_prediction
from darc.decide.evidence.worth import noise_ratio, worth_in_raters


def test_the_worth_agrees_with_the_reference() -> None:
    reference = load_reference("reference_covariates")
    world = judged_world(80, 6, 3, 0.7, 5)
    learnt = learn_prediction(world.ratings, [world.grades], world.raters)
    assert learnt is not None
    worth = worth_in_raters(world.ratings, learnt.values)
    assert worth is not None
    expected = reference.worth(world.ratings, learnt.values)
    assert (worth.estimate, worth.low, worth.high) == pytest.approx(expected)
    assert noise_ratio(world.ratings) == pytest.approx(reference.ratio(world.ratings))


def test_the_worth_of_a_judge_follows_from_its_correlation() -> None:
    estimates = []
    for seed in range(10):
        world = judged_world(300, 6, 3, 0.7, seed)
        learnt = learn_prediction(world.ratings, [world.grades], world.raters)
        assert learnt is not None
        worth = worth_in_raters(world.ratings, learnt.values)
        assert worth is not None
        estimates.append(worth.estimate)
    ratio = 1 / 0.55**2
    expected = ratio * 0.7**2 / (1 - 0.7**2)
    assert np.mean(estimates) == pytest.approx(expected, rel=0.25)


def test_the_worth_is_not_known_when_nothing_was_rated_twice() -> None:
    world = judged_world(80, 6, 1, 0.7, 6)
    assert worth_in_raters(world.ratings, np.zeros((80, 6))) is None
