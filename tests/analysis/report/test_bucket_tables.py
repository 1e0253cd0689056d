from itertools import pairwise

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import judged_by_people
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.bucket_tables import bucket_table, equal_buckets
from darc.ratings.joining import join

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=60)


@pytest.fixture(scope="module")
def contest() -> Contest:
    return compare_rules(make_source(20, 4, 6), SETTINGS)


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
