from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.report.proxy_tables import (
    mismatch_table,
    overlap_table,
    points_table,
    validity_table,
)
from darc.errors import InputError
from darc.ratings.joining import join

BASE = np.zeros(12, dtype=np.int64)


def test_a_perfect_proxy() -> None:
    proxy = make_source(12, 4, 6, kind="rewrite", name="run")
    human = replace(proxy, name="people", kind="rater")
    rows = validity_table(join(proxy, human), BASE, 50).where(items="all candidates", scorer="all")
    values = dict(zip(rows.column("metric"), rows.column("value"), strict=True))
    assert values["spearman"] == pytest.approx(1.0)
    assert values["kendall"] == pytest.approx(1.0)
    assert values["jaccard@20%"] == 1.0
    pair = join(proxy, human)
    assert set(overlap_table(pair).column("overlap")) == {1.0}
    assert not len(mismatch_table(pair))


def test_each_scorer_is_judged_too() -> None:
    proxy = make_source(12, 4, 6, scorers=2, kind="rewrite", name="run")
    human = make_source(12, 4, 6, seed=4, name="people")
    frame = validity_table(join(proxy, human), BASE, 30)
    assert set(frame.column("scorer")) == {"all", "s0", "s1"}
    assert set(frame.where(items="Best-of-K's choice").column("n")) == {12}
    assert set(frame.where(items="all candidates").column("n")) == {48}


def test_mismatches_go_both_ways_with_texts() -> None:
    proxy = make_source(12, 4, 6, kind="rewrite", name="run")
    human = make_source(12, 4, 6, seed=4, name="people")
    pair = join(proxy, human)
    frame = mismatch_table(pair)
    assert (
        frame.column("kind")
        == ["proxy high, people agree"] * 5 + ["proxy low, people disagree"] * 5
    )
    first = frame.records()[0]
    p = int(str(first["prompt_id"])[1:])
    k = int(str(first["candidate_id"])[1:])
    assert first["response"] == f"answer {p} {k}"
    assert first["prompt"] == f"question {p}"
    assert len(points_table(pair)) == 48


def test_overlap_scatter_and_mismatches_also_of_best_of_k_s_choice() -> None:
    proxy = make_source(12, 4, 6, kind="rewrite", name="run")
    human = make_source(12, 4, 6, seed=4, name="people")
    pair = join(proxy, human)
    rows = np.arange(12)
    base = proxy.samples[:, 0].mean(axis=2).argmax(axis=1)
    sigmas = [s.samples[rows, 0, base].std(axis=1, ddof=1) for s in (proxy, human)]
    tops = [set(np.argsort(-sigma, kind="stable")[:6].tolist()) for sigma in sigmas]
    frame = overlap_table(pair, base).where(items="Best-of-K's choice", share=0.5)
    assert frame.column("overlap") == [len(tops[0] & tops[1]) / 6]
    points = points_table(pair, base)
    assert len(points) == 48
    chosen = points.where(best_of_k="yes")
    assert chosen.column("candidate_id") == [f"c{k}" for k in base]
    assert np.allclose(np.array(chosen.column("sigma_human"), dtype=float), sigmas[1])
    cases = mismatch_table(pair, base).where(items="Best-of-K's choice").records()
    assert {case["kind"] for case in cases} == {
        *("proxy high, people agree", "proxy low, people disagree")
    }
    for case in cases:
        assert case["candidate_id"] == f"c{base[int(str(case['prompt_id'])[1:])]}"
    nobody = np.full(12, -1)
    assert set(overlap_table(pair, nobody).column("items")) == {"all candidates"}
    assert set(mismatch_table(pair, nobody).column("items")) == {"all candidates"}


def test_too_few_items_are_refused() -> None:
    human = make_source(3, 2, 1, name="people")
    with pytest.raises(InputError, match="too few"):
        validity_table(join(make_source(3, 2, 4, kind="rewrite"), human), BASE[:3])
