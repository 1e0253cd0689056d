from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.scorer_agreement import scorer_agreement_table

SETTINGS = ContestSettings(rules=("epsilon",), splits=3, draws=60)


def test_agreement_of_outcomes_by_scipy() -> None:
    contest = compare_rules(make_source(15, 4, 6, scorers=3), SETTINGS)
    frame = scorer_agreement_table(contest)
    assert len(frame.where(subset="overall", method="epsilon")) == 3
    wanted = {"subset": "overall", "method": "epsilon", "scorer": "s0", "other_scorer": "s2"}
    row = frame.where(**wanted)
    # Rounded, since equal outcomes may differ by a rounding error.
    outcomes = contest.rewards[:, contest.methods.index("epsilon")].mean(axis=0).round(12)
    left = outcomes[0]
    right = outcomes[2]
    assert row.column("spearman") == [pytest.approx(stats.spearmanr(left, right).statistic)]
    assert row.column("kendall") == [pytest.approx(stats.kendalltau(left, right).statistic)]
    best_left = set(np.argsort(-left, kind="stable")[:3])
    best_right = set(np.argsort(-right, kind="stable")[:3])
    assert row.column("overlap@20%") == [pytest.approx(len(best_left & best_right) / 3)]


def test_a_scorer_agrees_with_its_copy_and_not_with_its_reverse() -> None:
    source = make_source(15, 4, 6, scorers=2)
    samples = source.samples.copy()
    samples[:, 1] = samples[:, 0]
    same = scorer_agreement_table(compare_rules(replace(source, samples=samples), SETTINGS))
    assert same.where(subset="overall").column("spearman") == pytest.approx([1.0, 1.0])
    assert same.where(subset="overall").column("overlap@20%") == pytest.approx([1.0, 1.0])


def test_one_scorer_has_no_agreement() -> None:
    assert not len(scorer_agreement_table(compare_rules(make_source(), SETTINGS)))
