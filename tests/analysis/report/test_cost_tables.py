from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.helpers import make_source
from tests.helpers import fast_settings

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.methods import compared_methods
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.cost_tables import call_table, cost_table, decision_cost_table


def test_the_lazy_search_scores_less_and_chooses_the_same() -> None:
    specs = compared_methods(["epsilon", "entropic", "soft"])
    source = make_source(25, 6, 8, kind="rewrite", bounds=[(0.0, 10.0)])
    frame = call_table(source, specs)
    assert frame.column("method") == ["mean", "epsilon", "entropic"]
    for record in frame.records():
        assert record["same_choice"] == record["prompts"] == 10
        assert record["full"] == 48
        assert 0 < float(str(record["lazy"])) < 48


@fast_settings
@given(st.integers(0, 10_000), st.integers(1, 2), st.floats(0.1, 0.9))
def test_samples_that_do_not_exist_are_not_counted(seed: int, scorers: int, gaps: float) -> None:
    constants = ([5.0] * scorers, [2.0] * scorers)
    bounds = [(-5.0, 15.0)] * scorers
    source = make_source(3, 5, 8, scorers, seed, kind="rewrite", bounds=bounds, constants=constants)
    samples = source.samples.copy()
    count = np.random.default_rng(seed).binomial(7, 1 - gaps, size=(3, 1, 5, 1)) + 1
    samples[np.broadcast_to(np.arange(8) >= count, samples.shape)] = np.nan
    frame = call_table(replace(source, samples=samples), compared_methods(["epsilon", "entropic"]))
    for record in frame.records():
        assert record["full"] == count.sum() / 3
        assert 0 < float(str(record["share"])) <= 1
        assert record["same_choice"] == 3


def test_several_scorers_need_constants() -> None:
    specs = compared_methods(["entropic"])
    bounds = [(0.0, 10.0)] * 2
    source = make_source(5, 4, 5, 2, kind="rewrite", bounds=bounds)
    assert not len(call_table(source, specs))
    constants = ([5.0, 5.0], [2.0, 2.0])
    source = make_source(5, 4, 5, 2, kind="rewrite", bounds=bounds, constants=constants)
    assert call_table(source, specs).column("same_choice") == [5, 5]


def test_without_bounds_there_is_no_search() -> None:
    assert not len(call_table(make_source(), compared_methods()))


SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=60)


@pytest.fixture(scope="module")
def contest() -> Contest:
    return compare_rules(make_source(20, 4, 6), SETTINGS)


def test_cost(contest: Contest) -> None:
    source = make_source(4, costs={"reward calls": 80.0})
    assert cost_table(source).rows == (("made", "reward calls", 80.0, 20.0),)
    frame = decision_cost_table(contest)
    assert frame.column("method") == contest.methods
