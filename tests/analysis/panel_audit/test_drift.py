import numpy as np
import pytest
from tests.analysis.panel_audit.worlds import PanelWorld, as_ratings

from darc.analysis.calibrating import calibrate_ratings
from darc.analysis.panel_audit.drift import drift_against_calibration, drift_against_run
from darc.analysis.panel_audit.grades import rater_grades
from darc.errors import InputError
from darc.typing import Array

FILES = 60


def two_runs(seed: int, same_answers: bool, shift: float) -> tuple[Array, Array]:
    world = PanelWorld(prompts=50, candidates=4, raters=5)
    generator = np.random.default_rng(1000 + seed)
    first, _, _ = world.draw(seed)
    if same_answers:
        second = first + generator.normal(0, 0.5, first.shape)
    else:
        second, _, _ = world.draw(500 + seed)
        second += (first.mean(axis=(0, 1)) - second.mean(axis=(0, 1))) * 0
    second[:, :, 1] += shift
    return first, second


def test_false_alarms_on_the_same_answers_are_rare_and_moves_are_found() -> None:
    false_alarms = 0
    found = 0
    for seed in range(FILES):
        for shift in (0.0, 0.4):
            first, second = two_runs(seed, True, shift)
            now = rater_grades(as_ratings(second, "panel", "rater "))
            then = rater_grades(as_ratings(first, "panel", "rater "))
            moved = drift_against_run(now, then).moved
            if shift:
                found += "rater 1" in moved
            else:
                false_alarms += bool(moved)
    assert false_alarms <= 0.12 * FILES
    assert found >= 0.95 * FILES


def test_severity_against_a_calibration() -> None:
    world = PanelWorld(prompts=80, candidates=4, raters=5)
    first, _, _ = world.draw(1)
    generator = np.random.default_rng(2)
    second = first[::-1] + generator.normal(0, 0.5, first.shape)
    second[:, :, 1] += 1.0
    run = as_ratings(first, "panel", "rater ")
    calibration = next(iter(calibrate_ratings(run).by_scorer.values()))
    still = drift_against_calibration(run, calibration, "then.json")
    assert still.moved == []
    moved = drift_against_calibration(
        as_ratings(second, "panel", "rater "), calibration, "then.json"
    )
    assert "rater 1" in moved.moved
    change = {rater.rater: rater.change for rater in moved.raters}["rater 1"]
    # A rise of one rater by 1 is one of 0.8 against the mean of five.
    assert change.low <= 0.8 <= change.high


def test_different_prompts_compare_levels() -> None:
    world = PanelWorld(prompts=50, candidates=4, raters=3, correlation=0.3)
    first, _, _ = world.draw(1)
    then = rater_grades(as_ratings(first[:20], "panel", "rater "))
    other = as_ratings(first[20:] + 3.0, "panel", "rater ")
    ids = [f"q{number}" for number in range(30)]
    other = type(other)(**{**other.__dict__, "prompt_ids": ids})
    drift = drift_against_run(rater_grades(other), then)
    assert "different prompts" in drift.basis
    assert len(drift.moved) == 3
    assert drift.raters[0].change.value == pytest.approx(3, abs=1)


def test_lost_agreement_with_people_is_seen() -> None:
    world = PanelWorld(prompts=80, candidates=5, raters=4)
    first, people, _ = world.draw(1)
    worse = np.random.default_rng(3).normal(5, 2, first.shape)
    now = rater_grades(as_ratings(worse, "panel", "rater "))
    then = rater_grades(as_ratings(first, "panel", "rater "))
    persons = rater_grades(as_ratings(people, "rater", "person "))
    agreement = drift_against_run(now, then, persons).agreement
    assert agreement is not None
    assert agreement.high < -0.2
    assert drift_against_run(then, then, persons).agreement is not None


def test_other_raters_are_refused() -> None:
    first, _, _ = PanelWorld().draw(1)
    now = rater_grades(as_ratings(first, "panel", "rater "))
    with pytest.raises(InputError, match="no rater in common"):
        drift_against_run(now, rater_grades(as_ratings(first, "panel", "judge ")))
    calibration = next(
        iter(calibrate_ratings(as_ratings(first, "panel", "judge ")).by_scorer.values())
    )
    with pytest.raises(InputError, match="knows none of the raters"):
        drift_against_calibration(as_ratings(first, "panel", "rater "), calibration, "c.json")
