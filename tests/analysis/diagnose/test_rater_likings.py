"""Raters and systems: who marks which system up or down."""

import numpy as np
from tests.analysis.diagnose.panels import Array, panel, source

from darc.analysis.diagnose.diagnosis import diagnose
from darc.analysis.diagnose.rater_likings import measure_likings
from darc.analysis.diagnose.summary import summarize_diagnosis


def ratings_of(seed: int, prompts: int = 25, systems: int = 3, raters: int = 5) -> Array:
    draw = np.random.default_rng(seed)
    ratings = draw.normal(6, 0.8, (prompts, systems, 1)) + draw.normal(0, 0.5, raters)
    return np.asarray(ratings + draw.normal(size=(prompts, systems, raters)))


def test_two_of_five_raters_mark_a_system_down() -> None:
    ratings = ratings_of(0)
    ratings[:, 1, :2] -= 3
    likings = measure_likings(panel(ratings))
    assert likings.likings.shape == (5, 3)
    assert {(one.rater, one.system) for one in likings.notable} == {("r0", "c1"), ("r1", "c1")}
    assert all(-3.8 < one.liking < -2.2 for one in likings.notable)
    diagnosis = diagnose(source(ratings), splits=20, draws=50)
    sentences = summarize_diagnosis(diagnosis).sentences
    assert any(sentence.startswith("2 of 5 raters mark c1 down (r") for sentence in sentences)
    flags = {rater.name: rater.flags for rater in diagnosis.raters}
    assert flags["r0"] == ("against c1",)
    assert flags["r2"] == ()


def test_chance_is_seldom_notable() -> None:
    notable = [bool(measure_likings(panel(ratings_of(seed))).notable) for seed in range(150)]
    assert np.mean(notable) <= 0.09


def test_few_ratings_and_lone_systems_have_no_table() -> None:
    assert measure_likings(panel(ratings_of(0, prompts=3))).raters == ()
    assert measure_likings(panel(ratings_of(0, raters=2))).raters == ()
    ratings = ratings_of(0)
    ratings[4:, 2, 4] = np.nan
    likings = measure_likings(panel(ratings)).likings
    assert np.isnan(likings[4, 2])
    assert np.isnan(likings).sum() == 1
