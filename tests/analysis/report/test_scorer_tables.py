from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.scorer_tables import (
    aggregate_changes,
    held_out_scorer_table,
    scorer_table,
)

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=60)


def test_aggregates_over_scorers_by_loops() -> None:
    rewards = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    scales = np.random.default_rng(1).uniform(1, 2, (2, 4))
    found = aggregate_changes(rewards, scales, 0.5)
    for r, a, p in np.ndindex(2, 3, 5):
        delta = [(rewards[r, a, m, p] - rewards[r, 0, m, p]) / scales[r, m] for m in range(4)]
        assert found["mean"][r, a, p] == pytest.approx(np.mean(delta))
        assert found["min"][r, a, p] == pytest.approx(min(delta))
        hedged = np.mean(delta) - 0.5 * np.std(delta)
        assert found["mean - 0.5 std"][r, a, p] == pytest.approx(hedged)


def test_scorers_each_and_held_out() -> None:
    source = make_source(15, 4, 6, scorers=3)
    contest = compare_rules(source, SETTINGS)
    frame = scorer_table(contest)
    assert set(frame.column("scorer")) == {
        *("all: mean", "all: min", "all: mean - 1 std", "s0", "s1", "s2")
    }
    a = contest.methods.index("epsilon")
    expected = (contest.rewards[:, a, 1] - contest.rewards[:, 0, 1]).mean()
    wanted = {"subset": "overall", "scorer": "s1", "method": "epsilon"}
    assert frame.where(**wanted).column("delta") == [pytest.approx(expected)]
    held = held_out_scorer_table(source, SETTINGS)
    assert set(held.column("scorer")) == {"s0", "s1", "s2"}
    assert not len(scorer_table(compare_rules(make_source(), SETTINGS)))
    assert not len(held_out_scorer_table(make_source(), SETTINGS))


def test_the_scorer_left_out_does_not_select() -> None:
    source = make_source(15, 4, 6, scorers=2)
    garbage = source.samples.copy()
    garbage[:, 1] *= -1.0
    plain, turned = (
        held_out_scorer_table(each, SETTINGS).where(scorer="s1", subset="overall")
        for each in (source, replace(source, samples=garbage))
    )
    first, second = (np.array(f.column("delta"), dtype=float) for f in (plain, turned))
    assert np.allclose(first, -second)
    assert np.abs(first).max() > 0
