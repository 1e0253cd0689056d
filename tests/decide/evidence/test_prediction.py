import numpy as np
import pytest
from tests.decide.evidence.reference import load_reference
from tests.decide.evidence.worlds import judged_world

from darc.decide.evidence.prediction import FEWEST_PROMPTS, learn_prediction
from darc.typing import Array


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_raters", [True, False])
def test_predictions_agree_with_the_reference(seed: int, with_raters: bool) -> None:
    reference = load_reference("reference_covariates")
    world = judged_world(60, 6, 3, 0.7, seed)
    embedding = np.random.default_rng(seed).normal(size=(60, 6, 80))
    blocks = [world.grades, embedding]
    raters = world.raters if with_raters else None
    fit: dict[str, object] = {}
    expected = reference.predict(world.ratings, blocks, raters, fit=fit)
    learnt = learn_prediction(world.ratings, blocks, raters)
    assert learnt is not None
    assert learnt.values == pytest.approx(expected, abs=1e-9)
    assert learnt.trust == pytest.approx(fit["trust"], abs=1e-9)


def test_a_new_prompt_is_predicted_from_the_coefficients() -> None:
    world = judged_world(200, 6, 3, 0.9, 1)
    learnt = learn_prediction(world.ratings, [world.grades], world.raters)
    assert learnt is not None
    assert learnt.trust > 0.5
    new = learnt.predict([world.grades[:5]])
    truth = world.truth[:5] - world.truth[:5].mean(axis=1, keepdims=True)
    assert np.corrcoef(new.ravel(), truth.ravel())[0, 1] > 0.8


def reversed_judge(grades: Array) -> Array:
    return -grades


def noise_judge(grades: Array) -> Array:
    return np.random.default_rng(9).normal(size=grades.shape)


def constant_judge(grades: Array) -> Array:
    return np.full_like(grades, 3.0)


def missing_judge(grades: Array) -> Array:
    return np.full_like(grades, np.nan)


@pytest.mark.parametrize("spoil", [noise_judge, constant_judge, missing_judge])
def test_a_judge_that_knows_nothing_is_not_believed(spoil: object) -> None:
    world = judged_world(120, 6, 3, 0.8, 2)
    assert callable(spoil)
    learnt = learn_prediction(world.ratings, [spoil(world.grades)], world.raters)
    assert learnt is not None
    assert np.abs(learnt.values).max() < 0.15


def test_a_reversed_judge_is_read_the_right_way_round() -> None:
    world = judged_world(120, 6, 3, 0.8, 2)
    forward = learn_prediction(world.ratings, [world.grades], world.raters)
    backward = learn_prediction(world.ratings, [reversed_judge(world.grades)], world.raters)
    assert forward is not None
    assert backward is not None
    assert backward.values == pytest.approx(forward.values)


def test_few_prompts_teach_nothing() -> None:
    world = judged_world(FEWEST_PROMPTS - 1, 6, 3, 0.9, 3)
    assert learn_prediction(world.ratings, [world.grades]) is None
