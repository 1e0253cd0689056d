from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

import darc
from darc.analysis.evaluate.ablations import (
    FRONTIER,
    ablation_table,
    budget_table,
    fewer_candidates,
    fewer_samples,
    frontier_table,
    size_table,
    sizes_between,
    sweep_contest,
    sweep_of,
)
from darc.analysis.evaluate.run_contest import Splits, compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.ratings.joining import join

SETTINGS = ContestSettings(rules=("epsilon", "lcb"), splits=3, draws=40)


def test_every_setting_is_the_rule_by_itself() -> None:
    source = make_source(15, 4, 6)
    halves = list(Splits(source, SETTINGS))
    sweep = sweep_contest(source, halves, SETTINGS, FRONTIER)
    frame = frontier_table(sweep)
    alone = compare_rules(source, ContestSettings(rules=("penalty:lam=4",), splits=3, draws=5))
    row = frame.where(subset="overall", method="penalty", setting=4.0).records()[0]
    assert row["reward"] == pytest.approx(alone.reward[:, 1].mean())
    base = frame.where(subset="overall", method="mean").records()
    assert len(base) == 1
    assert base[0]["reward"] == pytest.approx(sweep.reward[:, 0].mean())
    same = frame.where(subset="overall", method="lcb", setting=0.0).records()[0]
    assert same["reward"] == pytest.approx(base[0]["reward"])


def test_ablations_are_against_best_of_k() -> None:
    source = make_source(15, 4, 6)
    sweep = sweep_of("lcb", "lam", (0.0, 1.0))
    contest = sweep_contest(source, list(Splits(source, SETTINGS)), SETTINGS, sweep)
    frame = ablation_table(contest, sweep).where(subset="overall")
    assert frame.column("setting") == [0.0, 1.0]
    assert frame.column("delta_tradeoff")[0] == 0.0
    assert frame.column("delta_tradeoff")[1] == pytest.approx(
        (contest.tradeoff[:, 2] - contest.tradeoff[:, 0]).mean()
    )


def test_smaller_pools() -> None:
    halves = make_source(6, 5, 8).halves("rater", 0)
    fewer = fewer_candidates(halves, 2, 0)
    assert ((~np.isnan(fewer.select.samples)).any(axis=(1, 3)).sum(axis=1) == 2).all()
    there = ~np.isnan(fewer.judge.samples)
    assert np.array_equal(there.any(axis=3), (~np.isnan(fewer.select.samples)).any(axis=3))
    short = fewer_samples(halves, 3, 0)
    assert short.select.shape == (6, 1, 5, 3)
    assert np.isin(short.select.samples, halves.select.samples).all()
    assert np.array_equal(short.judge.samples, halves.judge.samples)
    assert np.array_equal(
        np.sort(fewer_samples(halves, 4, 0).select.samples, axis=3),
        np.sort(halves.select.samples, axis=3),
    )


def test_sizes() -> None:
    assert sizes_between(2, 16) == [2, 3, 5, 7, 11, 16]
    assert sizes_between(1, 1) == [1]
    assert sizes_between(2, 1) == []


def test_size_table_ends_with_the_whole_pool() -> None:
    source = make_source(12, 4, 6)
    halves = list(Splits(source, SETTINGS))
    frame = size_table(source, halves, SETTINGS).where(subset="overall", method="epsilon")
    contest = compare_rules(source, SETTINGS)
    expected = (contest.tradeoff[:, 1] - contest.tradeoff[:, 0]).mean()
    assert frame.where(knob="K", setting=4).column("delta_tradeoff")[0] == pytest.approx(expected)
    assert frame.where(knob="samples").column("setting")[-1] == 3
    # One sample has no sigma to match lambda by: it is that of the whole half.
    matched = size_table(source, halves, SETTINGS.model_copy(update={"lam": None})).where(
        knob="samples"
    )
    assert matched.column("setting") == size_table(source, halves, SETTINGS).where(
        knob="samples"
    ).column("setting")


def test_rewrites_from_none_to_all_judged_by_people() -> None:
    proxy = make_source(15, 4, 9, kind="rewrite", name="run")
    human = make_source(15, 4, 5, seed=3, name="people")
    pair = join(proxy, human)
    frame = budget_table(proxy, SETTINGS, pair.halves).where(subset="overall", method="entropic")
    assert frame.column("setting") == [0, 1, 2, 3, 5, 8]
    assert set(frame.column("judged_by")) == {"people"}
    found = dict(zip(frame.column("setting"), frame.column("delta_tradeoff"), strict=True))
    assert found[0] == 0.0
    for size in (3, 8):
        decided = (
            darc.select_batch(proxy.samples[..., : size + 1], r) for r in ("mean", "entropic")
        )
        rows = np.arange(15)
        chosen = [human.samples[rows, 0, each.index] for each in decided]
        base, other = (c.mean(axis=1) - 2 * c.std(axis=1, ddof=1) for c in chosen)
        assert found[size] == pytest.approx((other - base).mean())


def test_a_run_alone_says_by_what_its_rewrites_are_judged() -> None:
    one = budget_table(make_source(15, 4, 5, kind="rewrite"), SETTINGS)
    assert set(one.column("judged_by")) == {"the samples that select"}
    assert "gains are partly luck" in one.note
    source = make_source(15, 4, 5, scorers=3, kind="rewrite")
    several = budget_table(source, SETTINGS)
    assert set(several.column("judged_by")) == {
        f"scorer s{m}, which does not select" for m in range(3)
    }
    assert set(several.column("setting")) == {0, 1, 2, 3, 4}
    assert "luck" not in several.note
    # What the left-out scorer says is all that judges: turned around, so are the gains.
    turned = source.samples.copy()
    turned[:, 1] *= -1
    again = budget_table(replace(source, samples=turned), SETTINGS.model_copy(update={"lam": 0.0}))
    plain = budget_table(source, SETTINGS.model_copy(update={"lam": 0.0}))
    by = "scorer s1, which does not select"
    frames = (f.where(judged_by=by, subset="overall", setting=4) for f in (plain, again))
    ends = [np.array(f.column("delta_tradeoff"), dtype=np.float64) for f in frames]
    assert np.allclose(ends[0], -ends[1])
    assert np.abs(ends[0]).max() > 0
