from dataclasses import replace

import numpy as np
import pytest
from tests.decide.evidence.worlds import judged_world

import darc
from darc.decide.evidence.judged_learning import learn_with_judges
from darc.decide.ids import Ids
from darc.errors import InputError
from darc.typing import Array, Integers

PROMPTS = 150


def chosen_truth(truth: Array, index: Integers) -> float:
    """The mean true quality of the chosen candidates, less that of their prompts."""
    rows = np.arange(len(truth))
    return float((truth[rows, index] - truth.mean(axis=1)).mean())


def test_a_good_judge_chooses_better_and_is_worth_raters() -> None:
    world = judged_world(PROMPTS, 8, 2, 0.8, 3)
    grades = world.grades[..., 0]
    with_judge = darc.select_batch(world.ratings, covariates=grades)
    without = darc.select_batch(world.ratings)
    gained = chosen_truth(world.truth, with_judge.index) - chosen_truth(world.truth, without.index)
    assert gained > 0.1
    calibration = darc.calibrate(world.ratings, covariates={"judge": grades})
    assert calibration.judges is not None
    assert calibration.judges.worth is not None
    estimate, low, high = calibration.judges.worth
    assert low < estimate < high
    assert estimate > 1
    assert f"{estimate:.1f} raters" in calibration.judges.worth_in_words()


@pytest.mark.parametrize("kind", ["noise", "constant", "missing", "reversed", "one system"])
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_by_a_bad_judge(kind: str, seed: int) -> None:
    world = judged_world(PROMPTS, 6, 2, 0.7, seed)
    generator = np.random.default_rng(seed)
    good = world.grades[..., 0]
    judges = {
        "noise": generator.normal(size=good.shape),
        "constant": np.full_like(good, 3.0),
        "missing": np.full_like(good, np.nan),
        "reversed": -good,
        "one system": good * 0 + 3.0 * (np.arange(6) == 2),
    }
    with_judge = darc.select_batch(world.ratings, covariates=judges[kind])
    without = darc.select_batch(world.ratings)
    gained = chosen_truth(world.truth, with_judge.index) - chosen_truth(world.truth, without.index)
    assert gained > -0.04


def test_the_score_is_that_of_the_rule_on_residuals() -> None:
    world = judged_world(60, 5, 3, 0.8, 4)
    learnt = learn_with_judges(world.ratings, {"judge": world.grades[..., 0]})
    plain = replace(learnt.calibration, judges=None)
    with_prediction = darc.select_batch(
        world.ratings, calibration=plain, prediction=learnt.predicted, caution="none"
    )
    residuals = world.ratings - learnt.predicted[..., None]
    on_residuals = darc.select_batch(residuals, calibration=plain, caution="none")
    for row in range(60):
        ours = with_prediction[row].choice.facts["shrunken"][0]
        theirs = on_residuals[row].choice.facts["shrunken"][0]
        assert ours == pytest.approx(theirs + learnt.predicted[row], abs=1e-9)


def test_a_saved_calibration_predicts_one_prompt() -> None:
    world = judged_world(PROMPTS, 6, 3, 0.9, 5)
    calibration = darc.calibrate(world.ratings, covariates={"judge": world.grades[..., 0]})
    read = darc.Calibration.from_json(calibration.to_json())
    assert read.judges == calibration.judges
    one = darc.select([[3.0, 3.5]] * 3, calibration=read, covariates={"judge": [1.0, 5.0, 2.0]})
    assert one.index == 1


def test_few_prompts_teach_nothing() -> None:
    world = judged_world(20, 6, 3, 0.9, 5)
    calibration = darc.calibrate(world.ratings, covariates=world.grades[..., 0])
    assert calibration.judges is None
    with pytest.raises(InputError, match="knows nothing about judgements"):
        darc.select(world.ratings[0], calibration=calibration, covariates=world.grades[0, :, 0])


def test_severity_is_removed_first() -> None:
    world = judged_world(PROMPTS, 6, 3, 0.8, 6)
    ids = Ids(np.broadcast_to(np.arange(3), world.ratings.shape), ("ann", "bob", "cyd"))
    severe = world.ratings + np.array([-2.0, 0.0, 2.0])
    learnt = learn_with_judges(severe, {"judge": world.grades[..., 0]}, ids)
    assert learnt.calibration.judges is not None
    assert learnt.calibration.judges.trust > 0.5
    assert learnt.calibration.raters["ann"] < -1


def test_shapes_are_checked() -> None:
    world = judged_world(40, 6, 3, 0.8, 6)
    with pytest.raises(InputError, match="one number per candidate"):
        darc.calibrate(world.ratings, covariates=world.grades[:, :5, 0])
    with pytest.raises(InputError, match="does not use covariates"):
        darc.select_batch(world.ratings, "entropic", covariates=world.grades[..., 0])
