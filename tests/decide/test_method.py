from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels

from darc.decide.method import Method, parse_methods
from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import as_calibrations
from darc.engine.engine import Engine, choose
from darc.errors import InputError, UnknownName


def test_a_rule_that_wants_the_original_is_refused_without_it() -> None:
    with pytest.raises(InputError, match="'poisson' with reward=original needs the original"):
        Engine(scorers=[Vowels()], rule="poisson:reward=original", include_original=False)


def test_several_scorers_without_constants_are_scored_in_full() -> None:
    scorers = [Vowels(), Vowels("other")]
    for scorer in scorers:
        scorer.location = scorer.scale = None
    outcome = choose(PROMPT, ANSWERS, scorers=scorers, n_aug=2)
    assert outcome.decision is not None
    assert not outcome.decision.bounded
    assert np.isfinite(outcome.scores.values[:, :, 0]).all()
    with pytest.raises(InputError, match="not every scorer has a fixed location"):
        choose(PROMPT, ANSWERS, scorers=scorers, n_aug=2, normalize="fixed")


def test_a_calibration_knows_systems_by_the_candidates_names(tmp_path: Path) -> None:
    named = [replace(each, name=name) for each, name in zip(ANSWERS, "abcd", strict=True)]
    learnt = Calibration(systems={"c": (1000.0, 0.0)})
    path = tmp_path / "calibration.json"
    learnt.save(path)
    for given in (learnt, path, str(path)):
        with Engine(scorers=[Vowels()], rule="auto", calibration=given, n_aug=2) as engine:
            assert engine.choose(PROMPT, named).index == 2
            assert engine.choose(PROMPT, named, rule="mean").index != 2
            assert (
                engine.choose(PROMPT, ANSWERS).index
                == engine.choose(PROMPT, ANSWERS, score_everything=True).index
            )
    with Engine(scorers=[Vowels()], rule="mean", n_aug=2) as engine:
        plain = engine.choose(PROMPT, named)
    assert plain.index != 2
    with pytest.raises(InputError, match="epsilon takes no calibration"):
        choose(PROMPT, named, scorers=[Vowels()], rule="epsilon", calibration=learnt)
    several = {"length": learnt, "other": learnt}
    with pytest.raises(InputError, match="knows nothing of scorer"):
        choose(PROMPT, named, scorers=[Vowels()], rule="auto", calibration=several)


@pytest.mark.parametrize(
    "text",
    ["mean", "epsilon:epsilon=0.5,beta=2", "auto:caution=2", "tau:quantile=0.5,objective=mean"],
)
def test_a_method_is_printed_as_it_was_written(text: str) -> None:
    method = Method.parse(text)
    assert str(method) == text
    again = Method.of(method.rule.name, method.parameters)
    assert str(again) == text
    assert again.rule.parameters == method.rule.parameters
    assert (again.beta, again.gamma) == (method.beta, method.gamma)


def test_a_text_wins_over_shared_parameters_and_options() -> None:
    method = Method.parse("penalty:lam=3,beta=2", {"lam": 5.0}, beta=0.5, gamma=4.0)
    assert method.rule.parameters["lam"] == 3.0
    assert (method.beta, method.gamma) == (2.0, 4.0)
    assert method.min_samples is None
    methods = parse_methods(["mean", "penalty"], {"lam": 5.0})
    assert methods[1].rule.parameters["lam"] == 5.0


@pytest.mark.parametrize(("caution", "number"), [("none", 0.0), ("high", 2.0), ("0.7", 0.7)])
def test_caution_is_a_name_or_a_number(caution: str, number: float) -> None:
    assert Method.parse(f"auto:caution={caution}").caution == number
    assert Method.parse("mean").caution is None


def test_methods_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(UnknownName):
        Method.parse("epsilom")
    with pytest.raises(UnknownName):
        Method.parse("epsilon:lam=1")
    with pytest.raises(InputError, match="given twice"):
        parse_methods(["mean", "mean"])
    with pytest.raises(InputError, match="'lam' is not a parameter of mean"):
        parse_methods(["mean"], {"lam": 1.0})
    with pytest.raises(InputError, match="takes no calibration"):
        Method.parse("mean", calibrations=as_calibrations(Calibration()))


def test_another_rule_takes_over_the_calibrations() -> None:
    learnt = as_calibrations(Calibration())
    method = Method.parse("auto", calibrations=learnt, min_samples=3)
    other = method.with_rule_of(Method.parse("auto:caution=2"))
    assert other.calibrations is learnt
    assert (other.caution, other.min_samples) == (2.0, 3)
    assert method.with_rule_of(Method.parse("mean")).calibrations is None
    assert str(method.best_of_k) == "mean"
