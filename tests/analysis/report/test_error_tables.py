import numpy as np
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import judged_by_people
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.error_tables import error_table, quantile_buckets, sigma_errors
from darc.ratings.joining import join

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=60)


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
