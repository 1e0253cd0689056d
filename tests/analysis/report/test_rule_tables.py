from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.frame import Cell, Frame
from darc.analysis.report.rule_tables import (
    human_table,
    main_table,
    scalarisation_table,
    sensitivity_table,
)

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=60)


@pytest.fixture(scope="module")
def contest() -> Contest:
    return compare_rules(make_source(20, 4, 6), SETTINGS)


def number(frame: Frame, column: str, **wanted: Cell) -> float:
    (cell,) = frame.where(**wanted).column(column)
    assert isinstance(cell, int | float)
    return cell


def test_main(contest: Contest) -> None:
    frame = main_table(contest)
    assert len(frame) == 2 * 4
    wanted = {"subset": "overall", "method": "epsilon"}
    a = contest.methods.index("epsilon")
    assert number(frame, "reward", **wanted) == pytest.approx(contest.reward[:, a].mean())
    assert number(frame, "risk", **wanted) == pytest.approx(contest.risk[:, a].mean())
    delta = contest.reward[:, a] - contest.reward[:, 0]
    assert number(frame, "win", **wanted) == pytest.approx((delta > 1e-9).sum() / 3)
    assert number(frame, "loss", **wanted) == pytest.approx((delta < -1e-9).sum() / 3)
    high = {"subset": "high-variance", "method": "epsilon"}
    expected = np.mean([contest.reward[r, a, contest.high[r]].mean() for r in range(3)])
    assert number(frame, "reward", **high) == pytest.approx(expected)
    assert number(frame, "prompts", **high) == 4


def test_human(contest: Contest) -> None:
    frame = human_table(contest)
    assert number(frame, "delta_tradeoff", subset="overall", method="mean") == 0
    for record in frame.records():
        for name in ("mean", "sigma", "tradeoff", "cvar_10"):
            low, middle, high = (record[f"{part}_{name}"] for part in ("low", "delta", "high"))
            assert isinstance(low, float)
            assert isinstance(middle, float)
            assert isinstance(high, float)
            assert low <= high
    tradeoff = number(frame, "tradeoff", subset="overall", method="entropic")
    base = number(frame, "tradeoff", subset="overall", method="mean")
    delta = number(frame, "delta_tradeoff", subset="overall", method="entropic")
    assert delta == pytest.approx(tradeoff - base)


def test_scalarisation(contest: Contest) -> None:
    frame = scalarisation_table(contest)
    assert set(frame.column("form")) == {"S0", "S1"}
    wanted = {"subset": "overall", "method": "epsilon", "form": "S1"}
    a = contest.methods.index("epsilon")
    assert number(frame, "delta", **wanted) == pytest.approx(contest.pairwise[:, a].mean())
    assert 0 < number(frame, "spearman", **wanted) <= 1
    assert set(frame.where(method="worst").column("tie")) == {20.0, 4.0}


def test_sensitivity(contest: Contest) -> None:
    frame = sensitivity_table(contest).where(subset="overall")
    lambdas = list(dict.fromkeys(zip(frame.column("form"), frame.column("lambda"), strict=True)))
    assert lambdas == [*(("raw", lam) for lam in (1.0, 2.0, 4.0, 5.0)), ("z-scored", 3.0)]
    for factor in (0.5, 1.0, 2.0):
        part = frame.where(factor=factor)
        tradeoff = contest.reward.mean(axis=(0, 2)) - 2 * factor * contest.risk.mean(axis=(0, 2))
        assert np.allclose(np.array(part.column("tradeoff"), dtype=float), tradeoff)
        ranks = [1 + int((tradeoff > t + 1e-9).sum()) for t in tradeoff]
        assert part.column("rank") == ranks


def test_z_scores_are_free_of_the_scale(contest: Contest) -> None:
    frame = sensitivity_table(contest).where(subset="overall", form="z-scored")
    found = dict(zip(frame.column("method"), frame.column("tradeoff"), strict=True))
    assert found["mean"] == 0
    a = contest.methods.index("epsilon")
    expected = []
    for r in range(3):
        base = contest.reward[r, 0]
        sigma = contest.risk[r, 0]
        reward = (contest.reward[r, a] - base.mean()) / base.std(ddof=1)
        expected.append(
            np.mean(reward - 3 * (contest.risk[r, a] - sigma.mean()) / sigma.std(ddof=1))
        )
    assert found["epsilon"] == pytest.approx(np.mean(expected))
    source = replace(contest.ratings, samples=40 * contest.ratings.samples + 7)
    scaled = sensitivity_table(
        compare_rules(source, SETTINGS.model_copy(update={"rules": ("lcb", "worst")}))
    )
    plain = sensitivity_table(
        compare_rules(contest.ratings, SETTINGS.model_copy(update={"rules": ("lcb", "worst")}))
    )
    left, right = (
        np.array(each.where(form="z-scored").column("tradeoff"), dtype=float)
        for each in (scaled, plain)
    )
    assert np.allclose(left, right)
