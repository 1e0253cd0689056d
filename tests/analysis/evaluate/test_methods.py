from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.methods import compared_methods, decide_halves, with_normalization
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.decide.choice import Choice
from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import as_calibrations
from darc.decide.pools import Pools
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.select import select, select_batch
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Halves, Ratings
from darc.types import clipped


def test_every_rule_chooses_as_by_itself() -> None:
    source = make_source(14, 5, 6, scorers=2)
    halves = source.halves("rater", 0)
    decided = decide_halves(compared_methods(), halves, seed=3)
    assert set(decided.failures) == {"caution", "mbr", "mc_dropout", "rbon"}
    for spec in (each for each in compared_methods() if each.text not in decided.failures):
        alone = select_batch(
            halves.select.samples, spec.rule.name, seed=3, prompt_ids=source.prompt_ids
        )
        assert np.array_equal(decided.choices[spec.text], alone.index), spec.text


def test_a_rule_learns_from_the_selecting_half_alone() -> None:
    source = make_source(40, 4, 8, systems=[["a", "b", "c", "d"]] * 40)
    halves = source.halves("rater", 0)
    poisoned = replace(source, samples=np.where(_selecting(source, halves), source.samples, 9.0))
    again = poisoned.halves("rater", 0)
    assert not np.array_equal(halves.judge.samples, again.judge.samples)
    specs = compared_methods(["auto"])
    found = [decide_halves(specs, split).choices for split in (halves, again)]
    assert np.array_equal(found[0]["auto"], found[1]["auto"])
    raters = np.array(source.rater_names)[halves.select.raters[:, 0]]
    alone = select_batch(halves.select.samples, "auto", rater_ids=raters, system_ids=source.systems)
    assert np.array_equal(found[0]["auto"], alone.index)


def _selecting(source: Ratings, halves: Halves) -> NDArray[np.bool_]:
    return np.isin(source.raters, np.unique(halves.select.raters))


def test_rewrites_are_decided_by_what_darc_begins_with() -> None:
    source = make_source(40, 4, 8, kind="rewrite")
    halves = source.halves("rewrite", 0)
    alone = [select(pool, "auto", sample="rewrite").index for pool in halves.select.samples]
    assert decide_halves(compared_methods(["auto"]), halves).choices["auto"].tolist() == alone


def test_a_calibration_takes_the_place_of_learning() -> None:
    source = make_source(40, 4, 8)
    severe = {name: 4.0 * place for place, name in enumerate(source.rater_names)}
    learnt = Calibration(raters=severe)
    halves = source.halves("sample", 0)
    raters = np.array(source.rater_names)[halves.select.raters[:, 0]]
    wanted = select_batch(halves.select.samples, "auto", rater_ids=raters, calibration=learnt).index
    specs = compared_methods(["auto"], calibrations=as_calibrations(learnt))
    assert np.array_equal(decide_halves(specs, halves).choices["auto"], wanted)
    plain = decide_halves(compared_methods(["auto"]), halves).choices["auto"]
    assert not np.array_equal(plain, wanted)


def test_side_inputs_are_used_and_missing_ones_named() -> None:
    source = make_source(6, 3, 4)
    halves = source.halves("rater", 0)
    reasons = decide_halves(compared_methods(), halves).failures
    missing = {label for label, why in reasons.items() if why.startswith("there is no ")}
    assert missing == {"caution", "mbr", "mc_dropout", "rbon"}
    assert reasons["rbon"] == "there is no log_likelihood for the candidates"
    likelihood = np.zeros((6, 3))
    likelihood[:, 2] = 1e6
    select = replace(halves.select, side={"log_likelihood": likelihood})
    halves = replace(halves, select=select)
    decided = decide_halves(compared_methods(["rbon"]), halves)
    assert (decided.choices["rbon"] == 2).all()
    assert "rbon" not in decided.failures


def test_best_of_k_comes_first_and_once() -> None:
    assert [spec.text for spec in compared_methods(["epsilon:epsilon=0.5", "mean"])] == [
        "mean",
        "epsilon:epsilon=0.5",
    ]
    assert next(spec.text for spec in compared_methods()) == "mean"
    with pytest.raises(UnknownName):
        compared_methods(["epsilom"])


def test_a_rule_that_fails_is_named_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(pools: Pools) -> Choice:
        """Fail."""
        raise RuntimeError("it broke")

    monkeypatch.setitem(rules._items, "broken", Rule("broken", fail))
    contest = compare_rules(
        make_source(), ContestSettings(rules=("broken", "epsilon"), splits=2, draws=5)
    )
    assert contest.methods == ["mean", "epsilon"]
    assert contest.not_run == {"broken": "it broke"}


def test_bounds_clip_what_selects_and_not_what_judges() -> None:
    source = make_source(4, 3, 4, bounds=[(4.0, 5.0)])
    contest = compare_rules(source, ContestSettings(rules=("mean",), splits=3, draws=5))
    assert contest.clipped_share > 0
    assert np.nanmax(contest.reward) > 5.0
    assert clipped(source.samples, source.bounds).max() == 5.0


def test_dropped_prompts_are_not_decided() -> None:
    source = make_source(5, 3, 4)
    halves = source.halves("rater", 0)
    kept = np.array([True, False, True, True, False])
    index = decide_halves(compared_methods(["lcb"]), replace(halves, usable=kept)).choices["lcb"]
    assert ((index >= 0) == kept).all()


def test_normalizations() -> None:
    source = make_source(scorers=2, constants=([1.0, 2.0], [3.0, 4.0]))
    (method,) = with_normalization(compared_methods(["mean"]), source, "fixed")
    assert method.normalize == "fixed"
    with pytest.raises(InputError):
        with_normalization(compared_methods(["mean"]), make_source(), "fixed")
