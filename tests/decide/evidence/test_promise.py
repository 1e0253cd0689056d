import json
import math
from dataclasses import replace

import numpy as np
import pytest

from darc.decide.decision import Decisions
from darc.decide.evidence import guarantee
from darc.decide.evidence.promise import Promise, batch_threshold
from darc.decide.model.calibration import Calibration
from darc.decide.select import select, select_batch
from darc.errors import InputError
from darc.typing import Array

CALIBRATIONS = 1000
LEVEL = 0.1


def promise(threshold: float, kind: str = "shown") -> Promise:
    return Promise(
        kind=kind,  # type: ignore[arg-type]
        risk="rating < 3",
        level=LEVEL,
        threshold=threshold,
        caution=1.0,
        prompts=100,
        ratings_per_answer=4.0,
        coverage=0.5,
    )


def draw(generator: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Scores, and the risk of each."""
    score = generator.normal(size=count)
    return score, 0.35 / (1 + np.exp(2.5 * score))


def test_the_promise_shown_fails_in_at_most_a_twentieth_of_calibrations() -> None:
    generator = np.random.default_rng(1)
    new, new_risk = draw(generator, 50_000)
    exceeded = 0
    for _ in range(CALIBRATIONS):
        score, risk = draw(generator, 300)
        loss = (generator.random(300) < risk).astype(float)
        threshold = guarantee.shown_threshold(score, loss, LEVEL)
        if threshold < math.inf:
            exceeded += bool(new_risk[new >= threshold].mean() > LEVEL)
    assert exceeded <= 0.05 * CALIBRATIONS


def test_the_promise_overall_holds_on_average() -> None:
    generator = np.random.default_rng(2)
    new, new_risk = draw(generator, 50_000)
    risks = []
    for _ in range(CALIBRATIONS):
        score, risk = draw(generator, 100)
        loss = (generator.random(100) < risk).astype(float)
        threshold = guarantee.overall_threshold(score, loss, LEVEL)
        risks.append(float(np.where(new >= threshold, new_risk, 0.0).mean()))
    assert np.mean(risks) <= LEVEL + 2 * np.std(risks) / np.sqrt(CALIBRATIONS)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_promise_batch_holds_on_average(one_by_one: bool) -> None:
    generator = np.random.default_rng(3)
    shares = []
    for _ in range(CALIBRATIONS):
        score, risk = draw(generator, 100)
        loss = (generator.random(100) < risk).astype(float)
        new, new_risk = draw(generator, 200)
        if one_by_one:
            is_shown = new >= batch_threshold(score, loss, LEVEL)
        else:
            is_shown = guarantee.shown_in_batch(score, loss, new, LEVEL)
        is_bad = generator.random(200) < new_risk
        shares.append(float(is_bad[is_shown].mean()) if is_shown.any() else 0.0)
    assert np.mean(shares) <= LEVEL + 2 * np.std(shares) / np.sqrt(CALIBRATIONS)


def test_an_answer_below_the_threshold_is_held() -> None:
    scores = [[5.0, 4.0, 5.0, 4.0], [3.0, 4.0, 3.0, 4.0]]
    shown = select(scores, calibration=Calibration(promise=promise(2.0)), scale="1-5")
    held = select(scores, calibration=Calibration(promise=promise(4.9)), scale="1-5")
    assert not shown.held
    assert held.held
    assert "below_promise" in held.flags
    assert held.index == shown.index
    assert "None of these answers is good" not in held.explain()
    assert held.held_sentence in held.explain()


def test_a_large_batch_has_its_own_threshold() -> None:
    generator = np.random.default_rng(4)
    ratings = generator.normal(3.0, 1.0, (60, 3, 4)) + generator.normal(0, 1.0, (60, 1, 1))
    of_batch = replace(
        promise(3.0, "batch"),
        good_scores=tuple(np.linspace(2, 5, 90)),
        bad_scores=tuple(np.linspace(0, 2, 30)),
    )
    decisions = select_batch(ratings, calibration=Calibration(promise=of_batch))
    assert isinstance(decisions, Decisions)
    below = decisions.flags["below_promise"]
    assert 0 < below.sum() < 60
    few = select_batch(ratings[:5], calibration=Calibration(promise=of_batch))
    assert len(few.flags["below_promise"]) == 5


def test_scores_that_are_not_ratings_are_held() -> None:
    decision = select(
        [[5.0, 4.0], [3.0, 4.0]], sample="rewrite", calibration=Calibration(promise=promise(-9.0))
    )
    assert decision.held


def test_another_caution_is_flagged() -> None:
    calibration = Calibration(promise=promise(-9.0))
    scores = [[5.0, 4.0], [3.0, 4.0]]
    assert "other_caution" in select(scores, calibration=calibration, caution="none").flags
    assert "other_caution" not in select(scores, calibration=calibration).flags


def test_a_calibration_file_holds_the_promise() -> None:
    calibration = Calibration(promise=promise(4.9))
    again = Calibration.from_json(calibration.to_json())
    assert again.promise == calibration.promise
    assert "promise" not in json.loads(Calibration().to_json())
    broken = calibration.to_json().replace('"level": 0.1', '"level": 3')
    with pytest.raises(InputError):
        Calibration.from_json(broken)
