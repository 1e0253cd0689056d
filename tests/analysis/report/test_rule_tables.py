from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import judged_by_people
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.frame import Cell, Frame
from darc.analysis.report.bucket_tables import bucket_table, equal_buckets
from darc.analysis.report.cost_tables import cost_table, decision_cost_table
from darc.analysis.report.error_tables import error_table, quantile_buckets, sigma_errors
from darc.analysis.report.family_tables import family_agreement_table, family_table
from darc.analysis.report.pool_tables import pool_table
from darc.analysis.report.rule_tables import (
    human_table,
    main_table,
    scalarisation_table,
    sensitivity_table,
)
from darc.ratings.joining import join
from darc.ratings.ratings import Ratings

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), repeats=3, draws=60)


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


def test_buckets_share_the_prompts_out(contest: Contest) -> None:
    masks = equal_buckets(contest.disagreement, list(contest.ratings.prompt_ids))
    assert (np.sum(masks, axis=0) == 1).all()
    assert all((mask.sum(axis=1) == 4).all() for mask in masks)
    for low, high in pairwise(masks):
        for r in range(3):
            assert contest.disagreement[r, low[r]].max() <= contest.disagreement[r, high[r]].min()
    frame = bucket_table(contest)
    rows = frame.where(method="epsilon")
    assert rows.column("bucket") == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    a = contest.methods.index("epsilon")
    whole = (contest.reward[:, a] - contest.reward[:, 0]).mean()
    assert np.mean(np.array(rows.column("delta"), dtype=float)) == pytest.approx(whole)
    assert set(frame.where(method="worst").column("delta")) == {0.0}
    assert set(frame.where(method="worst").column("tie")) == {4.0}


def test_pool_by_hand() -> None:
    source = make_source(11, 3, 5)
    variances = source.samples[:, 0].var(axis=2, ddof=1).max(axis=1)
    (row,) = pool_table(source).records()
    assert row["mean"] == pytest.approx(variances.mean())
    assert row["q80"] == pytest.approx(np.quantile(variances, 0.8))
    assert row["q90"] == pytest.approx(np.quantile(variances, 0.9))


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
    a, expected = contest.methods.index("epsilon"), []
    for r in range(3):
        base, sigma = contest.reward[r, 0], contest.risk[r, 0]
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


def test_cost(contest: Contest) -> None:
    source = make_source(4, costs={"reward calls": 80.0})
    assert cost_table(source).rows == (("made", "reward calls", 80.0, 20.0),)
    frame = decision_cost_table(contest)
    assert frame.column("method") == contest.methods


def test_errors_bucket_by_the_gap_of_the_sigmas() -> None:
    proxy = make_source(20, 4, 5, kind="rewrite", name="run", family="style")
    human = make_source(20, 4, 5, seed=2, name="people")
    pair = join(proxy, human)
    contest = judged_by_people(pair, SETTINGS)
    assert contest.split == "joined"
    rows = np.arange(20)
    base = proxy.samples[:, 0].mean(axis=2).argmax(axis=1)
    assert np.array_equal(contest.choice[0, 0], base)
    assert np.allclose(contest.reward[0, 0], human.samples[rows, 0, base].mean(axis=1))
    gaps = [
        source.samples[rows, 0, base].std(axis=1, ddof=1) / source.samples.std(ddof=1)
        for source in (proxy, human)
    ]
    assert np.allclose(sigma_errors(pair, contest, rescaled=True)[0], np.abs(gaps[0] - gaps[1]))
    left, right = (s.samples[rows, 0, base].std(axis=1, ddof=1) for s in (proxy, human))
    assert np.allclose(sigma_errors(pair, contest)[0], np.abs(left - right))
    frame = error_table(pair, contest)
    for form in ("raw", "rescaled"):
        middles = np.array(frame.where(method="epsilon", form=form).column("error"), dtype=float)
        assert len(middles) == 5
        assert (np.diff(middles) >= 0).all()
    edges = np.quantile(np.abs(left - right), [0.0, 0.2, 0.4])
    assert ", ".join(f"{edge:.4g}" for edge in edges) in frame.note


def test_quantile_edges_leave_ties_together() -> None:
    values = np.array([[1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, np.nan, 6.0, 7.0]])
    masks, edges = quantile_buckets(values, 3)
    assert np.allclose(edges, np.quantile(values[0, ~np.isnan(values[0])], [0, 1 / 3, 2 / 3, 1]))
    assert [np.flatnonzero(mask[0]).tolist() for mask in masks] == [
        *([0, 1, 2], [3, 4, 5], [6, 8, 9])
    ]
    ties, _ = quantile_buckets(np.array([[1.0, 1.0, 1.0, 1.0, 2.0, 3.0]]), 3)
    assert [int(mask.sum()) for mask in ties] == [4, 0, 2]
    assert not np.any(quantile_buckets(np.full((1, 4), np.nan))[0])


def test_a_proxys_study_is_bucketed_by_people_too() -> None:
    proxy = make_source(20, 4, 5, kind="rewrite", name="run")
    human = make_source(20, 4, 5, seed=2, name="people")
    contest = judged_by_people(join(proxy, human), SETTINGS)
    frame = bucket_table(contest).where(method="epsilon")
    base = proxy.samples[:, 0].mean(axis=2).argmax(axis=1)
    for by, source in (("the proxy", proxy), ("people", human)):
        sigma = np.sort(source.samples[np.arange(20), 0, base].std(axis=1, ddof=1))
        found = np.array(frame.where(by=by).column("disagreement"), dtype=float)
        assert np.allclose(found, sigma.reshape(5, 4).mean(axis=1))
    own = bucket_table(compare_rules(human, SETTINGS))
    assert set(own.column("by")) == {"the selecting half"}


def families() -> list[Ratings]:
    """Runs of two families, one of them with its prompts in another order and one prompt less."""
    style, targeted = (
        make_source(15, 4, 6, seed=s, kind="rewrite", name=family, family=family)
        for s, family in enumerate(("style", "targeted"))
    )
    return [targeted.subset(list(range(13, -1, -1)), [range(4)] * 14), style]


def test_families_stand_side_by_side() -> None:
    sources = families()
    people = make_source(15, 4, 6, seed=9, name="people")
    contests = [compare_rules(source, SETTINGS) for source in [*sources, people]]
    frame = family_table(contests)
    assert set(frame.column("family")) == {"style", "targeted"}
    assert set(frame.column("judge")) == {"its own rewrites"}
    assert not len(family_table(contests[1:]))
    targeted, style = contests[:2]
    for split in range(SETTINGS.repeats):
        wanted = {style.ratings.prompt_ids[p] for p in np.flatnonzero(style.high[split]).tolist()}
        rows = [p for p, name in enumerate(targeted.ratings.prompt_ids) if name in wanted]
        alone = [replace_splits(each, split) for each in (targeted, style)]
        row = family_table(alone).where(family="targeted", slice="stress", method="epsilon")
        a = targeted.methods.index("epsilon")
        assert row.column("prompts") == [len(rows)]
        assert row.column("reward") == [pytest.approx(targeted.reward[split, a, rows].mean())]


def replace_splits(contest: Contest, split: int) -> Contest:
    """The study of one of its splits."""
    names = ("choice", "reward", "risk", "outcome", "usable", "high", "disagreement")
    return replace(contest, **{name: getattr(contest, name)[[split]] for name in names})


def test_people_judge_families_where_they_are_joined() -> None:
    people = make_source(15, 4, 6, seed=9, name="people")
    sources = [*families(), make_source(15, 4, 6, seed=5, kind="rewrite", name="log")]
    pairs = [join(source, people) for source in sources]
    with_studies = [(pair, judged_by_people(pair, SETTINGS)) for pair in pairs]
    frame = family_table([compare_rules(source, SETTINGS) for source in sources], with_studies)
    assert set(frame.column("judge")) == {"people"}
    assert set(frame.column("family")) == {"style", "targeted"}
    assert set(frame.column("source")) == {"style judged by people", "targeted judged by people"}
    style, targeted = with_studies[1], with_studies[0]
    slices = {}
    high = np.flatnonzero(style[1].high[0]).tolist()
    wanted = {style[1].ratings.prompt_ids[p] for p in high}
    for pair, contest in (style, targeted):
        rows = [p for p, name in enumerate(contest.ratings.prompt_ids) if name in wanted]
        slices[pair.proxy.family] = len(rows)
        found = frame.where(family=pair.proxy.family, slice="stress", method="mean")
        assert found.column("reward") == [pytest.approx(contest.reward[0, 0, rows].mean())]
    agreement = family_agreement_table(with_studies, 20, 0)
    assert set(agreement.column("metric")) >= {"spearman", "jaccard@20%"}
    assert set(agreement.column("family")) == {"style", "targeted"}
    for family, prompts in slices.items():
        stress = agreement.where(slice="stress", family=family)
        assert set(stress.column("n")) == {4 * prompts}
    one_family = [with_studies[1], with_studies[2]]
    assert not len(family_agreement_table(one_family, 20, 0))
