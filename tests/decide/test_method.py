from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels

from darc.decide.model.calibration import Calibration
from darc.engine.engine import Engine, choose
from darc.errors import InputError


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
