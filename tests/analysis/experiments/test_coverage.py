import numpy as np
import pytest

from darc.analysis.experiments.coverage import coverage, lower_bounds
from darc.decide.select import select_batch
from darc.ratings.simulated import preset, simulate

SIZES = (5, 64, 1024)


@pytest.mark.parametrize("name", ["paper", "noise", "polarised", "panel"])
def test_certificate_holds_for_independent_raters(name: str) -> None:
    result = coverage(preset(name).changed({"prompts": 200}), 3, sizes=SIZES)
    for row in result.rows:
        if row["samples"] == "raters" and row["bound"] == "certificate":
            assert row["actual"] >= row["nominal"], row


def test_rewrites_do_not_carry_the_certificate() -> None:
    result = coverage(preset("paper").changed({"prompts": 300}), 1, sizes=SIZES)
    rows = {(r["samples"], r["n"], r["bound"], r["rule"]): r["actual"] for r in result.rows}
    assert rows["rewrites", 1024, "certificate", "mean"] < 0.7
    assert rows["rewrites", 5, "lcb score", "lcb"] < 0.8
    assert rows["raters", 5, "lcb score", "lcb"] < 0.95
    assert "raters, certificate: holds" in result.notes[0]
    assert "does not hold" in result.notes[2]


def test_bounds_are_those_of_certificate_and_rule() -> None:
    people = simulate(preset("polarised").changed({"prompts": 6, "missing": 0.2}).people, 0)
    decided = select_batch(people.ratings[:, None], "epsilon")
    expected = []
    for decision in decided:
        bound = decision.certificate(bounds=(0, 10)).lower_bound
        assert bound is not None
        expected.append(bound[0])
    assert np.allclose(lower_bounds(decided, "certificate", (0, 10)), expected)
    lcb = select_batch(people.ratings[:, None], "lcb")
    scores = lcb.choice.objective[np.arange(6), lcb.index]
    assert np.allclose(lower_bounds(lcb, "lcb score", (0, 10)), scores)


def test_seeded() -> None:
    given = preset("paper").changed({"prompts": 30})
    one, same, other = (coverage(given, seed, sizes=(5, 16)) for seed in (1, 1, 2))
    assert one.rows == same.rows
    assert one.rows != other.rows
