import numpy as np
import pytest
from scipy import stats
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import judged_by_people
from darc.analysis.evaluate.run_contest import Splits, compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.held_out_tables import calibration_table, density, density_table
from darc.ratings.joining import join

SETTINGS = ContestSettings(rules=("epsilon", "lcb"), splits=3, draws=40)


def test_calibration_by_loops() -> None:
    source = make_source(12, 4, 6)
    halves = list(Splits(source, SETTINGS))
    contest = compare_rules(source, SETTINGS)
    frame = calibration_table(contest, halves)
    held = []
    for r in range(3):
        for p in range(12):
            seen = halves[r].select.samples[p, 0, contest.choice[r, 1, p]]
            bound = seen.mean() - seen.std(ddof=1) * np.sqrt(np.log(4 / 0.2) / 3)
            held.append(contest.reward[r, 1, p] >= bound)
    found = frame.where(method="epsilon", nominal=0.8).records()[0]
    assert found["observed"] == pytest.approx(np.mean(held))
    observed = np.array(frame.where(method="epsilon").column("observed"), dtype=float)
    assert (np.diff(observed) >= 0).all()


def test_density_against_scipy() -> None:
    values = np.random.default_rng(0).normal(size=200)
    grid = np.linspace(-5, 5, 401)
    found = density(values, grid)
    low, high = np.quantile(values, [0.25, 0.75])
    width = 0.9 * min(values.std(ddof=1), (high - low) / 1.349) * 200**-0.2
    kernel = stats.gaussian_kde(values, bw_method=width / values.std(ddof=1))
    assert np.allclose(found, kernel(grid))
    assert np.trapezoid(found, grid) == pytest.approx(1.0, abs=1e-6)
    assert np.isfinite(density(np.full(5, 3.0), grid)).all()


def test_density_table_has_every_method() -> None:
    source = make_source(6, 3, 4, scorers=2)
    contest = compare_rules(source, SETTINGS)
    frame = density_table(contest, list(Splits(source, SETTINGS)))
    assert len(frame) == 2 * 2 * 3 * 101
    assert set(frame.column("scorer")) == {"s0", "s1"}


def test_densities_of_the_high_variance_prompts_with_mean_and_sigma() -> None:
    source = make_source(20, 4, 6)
    halves = list(Splits(source, SETTINGS))
    contest = compare_rules(source, SETTINGS)
    frame = density_table(contest, halves)
    assert set(frame.column("subset")) == {"overall", "high-variance"}
    place = contest.methods.index("epsilon")
    for subset, mask in contest.subsets.items():
        samples = np.concatenate(
            [
                halves[r].judge.samples[p, 0, contest.choice[r, place, p]]
                for r, p in np.argwhere(mask)
            ]
        )
        samples = samples[~np.isnan(samples)]
        row = frame.where(method="epsilon", subset=subset).records()[0]
        assert row["mean"] == pytest.approx(samples.mean())
        assert row["sigma"] == pytest.approx(samples.std(ddof=1))


def test_people_s_ratings_are_the_samples_where_people_judge() -> None:
    people = make_source(20, 4, 6, name="people")
    run = make_source(20, 4, 9, kind="rewrite", name="run", seed=3)
    pair = join(run, people)
    contest = judged_by_people(pair, SETTINGS)
    frame = density_table(contest, [pair.halves])
    (mask,) = contest.high
    rated = [people.samples[p, 0, contest.choice[0, 0, p]] for p in np.flatnonzero(mask)]
    row = frame.where(method="mean", subset="high-variance").records()[0]
    assert row["mean"] == pytest.approx(np.nanmean(rated))
