import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.rules.test_auto import WORLDS, ids, world

import darc
from darc.decide.model.calibration import DEFAULT, NEW_FIELDS


def test_a_calibration_survives_its_file(tmp_path: Path) -> None:
    made = world(*WORLDS[4])
    learnt = darc.calibrate(made["scores"], **ids(made))
    learnt.save(tmp_path / "own.json")
    again = darc.Calibration.load(tmp_path / "own.json")
    assert again.to_json() == learnt.to_json()
    assert again.name == learnt.name != DEFAULT.name == "default"
    assert again.weight == learnt.weight
    assert set(again.intervals) == {"reliability"}
    low, high = again.intervals["reliability"]
    assert low <= learnt.reliability <= high
    assert again.rater_errors.keys() == again.raters.keys()
    decision = darc.select(made["scores"][0], "auto", calibration=again)
    assert decision.to_dict()["parameters"]["calibration"] == again.name


def damaged(**changes: Any) -> str:
    kept = {**json.loads(DEFAULT.to_json()), **changes}
    return json.dumps({name: value for name, value in kept.items() if value != "leave out"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[1]", "it lacks form"),
        (damaged(version=9), "has version 9, and this DARC reads versions 1 and 2"),
        (damaged(shared="leave out"), "lacks 'shared'"),
        (damaged(colour=1), "has the unknown field 'colour'"),
        (damaged(noise=[1, 2]), "has noise = [1, 2]"),
        (damaged(within="much"), "has within = much"),
        (damaged(candidates=[[1, None], [0, 1]]), "has candidates = "),
        (damaged(raters={"ann": "severe"}), "has raters = "),
        (damaged(systems={"a": [1]}), "has systems = "),
        (damaged(weight={"many": 0.1}), "has weight = "),
    ],
)
def test_a_damaged_calibration_is_refused_by_its_field(text: str, words: str) -> None:
    with pytest.raises(darc.DarcError) as caught:
        darc.Calibration.from_json(text, "own.json")
    assert "own.json" in str(caught.value)
    assert words in str(caught.value)


def test_a_calibration_of_version_1_is_read_with_defaults_for_what_it_lacks() -> None:
    old = damaged(version=1, **dict.fromkeys(NEW_FIELDS, "leave out"))
    found = darc.Calibration.from_json(old)
    assert found.spread_prior == DEFAULT.spread_prior
    assert found.earned
    with pytest.raises(darc.DarcError, match="lacks 'spread_alike'"):
        darc.Calibration.from_json(damaged(spread_alike="leave out"))


def test_intervals_hold_what_was_put_in() -> None:
    generator = np.random.default_rng(3)
    severity = generator.normal(0, 0.6, 20)
    quality = generator.normal(0, 0.5, 10)
    raters = generator.integers(0, 20, (300, 10, 6))
    systems = np.tile(np.arange(10), (300, 1))
    scores = generator.normal(size=(300, 10, 6)) + generator.normal(0, 0.7, (300, 10, 1))
    scores += severity[raters] + quality[systems][..., None]
    found = darc.calibrate(scores[:, None], raters, systems)
    who = np.array([found.raters[str(r)] for r in range(20)])
    errors = np.array([found.rater_errors[str(r)] for r in range(20)])
    assert (np.abs(who - (severity - severity.mean())) < 2.5 * errors).mean() > 0.9
    effect = np.array([found.systems[str(s)][0] for s in range(10)])
    errors = np.array([found.system_errors[str(s)] for s in range(10)])
    assert (np.abs(effect - (quality - quality.mean())) < 2.5 * errors).mean() > 0.9
