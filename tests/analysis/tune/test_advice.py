import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.tune.helpers import noise, source_of

from darc.analysis.tune.advice import advise, recommend
from darc.analysis.tune.tuning import Tuned, TunedRule, tune
from darc.cli import main
from darc.decide.method import Method
from darc.decide.registry import rules
from darc.ratings.simulated import Recipe, simulate, two_minds
from darc.ratings.simulated.write import write_ratings

DATA = Path(os.environ.get("DARC_DATA", "no folder is named by DARC_DATA"))
PEOPLE = {
    "polarised": two_minds(30, 6, 10, polarising=0.5),
    "calm": Recipe(prompts=30, candidates=5, raters=6, crowd=6),
    "four": two_minds(20, 4, 4),
    "two": Recipe(prompts=20, candidates=4, raters=2, crowd=2),
    "few": two_minds(4, 4, 8),
}


def first_lines(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The first line that each of the three commands prints on a file, at their defaults."""
    found = {}
    for command in ("diagnose", "tune", "eval"):
        code = main([command, str(path)])
        printed = capsys.readouterr()
        found[command] = printed.out.partition("\n")[0] if code == 0 else printed.err
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", PEOPLE)
def test_three_commands_give_one_advice(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ratings.csv"
    with path.open("w") as file:
        write_ratings(file, simulate(PEOPLE[name], seed=3))
    found = first_lines(path, capsys)
    if name == "few":
        assert "not enough for 5 folds" in found.pop("tune")
        assert "untested: has 4 prompts" in found["eval"]
    assert len(set(found.values())) == 1, found
    assert found["eval"].startswith("Recommended for ratings: ")
    assert ("(beats Best-of-K beyond noise" in found["eval"]) == (name == "polarised")


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "ratings").is_dir(), reason="DARC_DATA names no folder that has a folder ratings"
)
def test_three_commands_give_one_advice_on_real_ratings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    started = time.perf_counter()
    paths = sorted((DATA / "ratings").glob("*.csv.gz"), key=lambda path: path.stat().st_size)
    for path in paths:
        found = first_lines(path, capsys)
        with capsys.disabled():
            print(f"\n{found['eval']}")
        assert len(set(found.values())) == 1, found
        if time.perf_counter() - started > 120:
            break


def row(rule: str, gain: float, low: float, high: float, mean: float = 0.0) -> TunedRule:
    mean_ends = (mean, mean - 0.1, mean + 0.1)
    return TunedRule(rule, Method.of(rule), gain, low, high, gain, *mean_ends, 1.0, 1.0, (), ())


@pytest.fixture(scope="module")
def tuned() -> Tuned:
    return tune(source_of(noise(12, 0)), rules=["entropic"], splits=1)


def with_rows(tuned: Tuned, *rows: TunedRule) -> Tuned:
    return replace(tuned, rows=tuple(sorted(rows, key=lambda one: -one.gain)))


def test_what_beats_best_of_k_is_recommended_with_what_it_costs(tuned: Tuned) -> None:
    found = recommend(
        with_rows(tuned, row("auto", 0.01, -0.1, 0.2), row("lcb", 0.3, 0.1, 0.5, -0.25))
    )
    assert found.setting.rule.name == "lcb"
    assert found.beyond_noise
    assert "costs 0.25 of the mean (-0.35 to -0.15)" in found.cost
    assert "forgoes 0.3 in mean - 2 sigma (0.1 to 0.5)" in found.cost


def test_where_nothing_beats_best_of_k_auto_is_left_on(tuned: Tuned) -> None:
    found = recommend(with_rows(tuned, row("auto", 0.01, -0.1, 0.2), row("lcb", 0.3, -0.1, 0.7)))
    assert found.setting.rule.name == "auto"
    assert not found.beyond_noise
    assert "safe to leave on, +0.01 (-0.1 to +0.2)" in found.headline
    assert "nothing beats Best-of-K beyond noise" in found.headline
    assert "following it may cost 0.1 in mean - 2 sigma" in found.cost
    assert "Best-of-K may forgo 0.2" in found.cost
    assert "lcb, +0.3 (-0.1 to +0.7): following it, if that is noise, may cost 0.1" in found.cost


def test_a_recommended_rule_that_is_last_in_the_table_is_explained(tuned: Tuned) -> None:
    last = recommend(with_rows(tuned, row("auto", -0.2, -0.5, 0.2), row("lcb", 0.3, -0.1, 0.7)))
    assert last.setting.rule.name == "auto"
    assert "auto gained least" in last.cost
    first = recommend(with_rows(tuned, row("auto", 0.4, -0.1, 0.9), row("lcb", 0.3, -0.1, 0.7)))
    assert "gained least" not in first.cost


def test_auto_is_not_called_safe_where_it_loses(tuned: Tuned) -> None:
    found = recommend(with_rows(tuned, row("auto", -0.2, -0.3, -0.1), row("lcb", 0.3, -0.1, 0.7)))
    assert found.setting.rule.name == "mean"
    assert "auto loses to it, -0.2 (-0.3 to -0.1)" in found.headline


def test_the_papers_rules_and_auto_are_compared() -> None:
    found = advise(source_of(simulate(two_minds(20, 4, 6), seed=0).ratings), splits=1)
    assert found.tuned is not None
    compared = {row.rule for row in found.tuned.rows}
    assert {"epsilon", "entropic", "tau", "penalty", "lcb", "cvar"} <= compared
    assert ("auto" in compared) == ("auto" in rules)


@pytest.mark.parametrize("samples", [noise(1, 0), noise(20, 0, size=1), np.full((20, 4, 6), 3.0)])
def test_what_cannot_be_tested_is_said(samples: np.ndarray) -> None:
    found = advise(source_of(samples))
    assert found.setting.rule.name == "auto"
    assert "untested: " in found.headline
    assert "\n" not in found.headline
