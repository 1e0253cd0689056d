import dataclasses

import numpy as np
import pytest
from tests.analysis.diagnose.panels import noise_only, panel

from darc.analysis.diagnose.rater_reports import report_raters


def test_severe_constant_and_contrary_raters_are_found() -> None:
    ratings = noise_only(0, prompts=20, candidates=5, raters=9)
    ratings[..., 3] -= 4
    ratings[..., 5] = 4.0
    ratings[..., 7] = np.random.default_rng(1).normal(5, 1.3, (20, 5))
    flags = {one.name: one.flags for one in report_raters(panel(ratings)) if one.flags}
    assert flags == {"r3": ("severe",), "r5": ("constant",), "r7": ("apart",)}


def test_ordinary_raters_are_seldom_flagged() -> None:
    flagged = [
        bool(one.flags)
        for seed in range(20)
        for one in report_raters(panel(noise_only(seed, raters=8, holes=0.3)))
    ]
    assert np.mean(flagged) < 0.05


def test_severity_is_not_the_company_that_a_rater_keeps() -> None:
    # Raters 0 to 2 see the bad candidates only, raters 3 to 5 the good ones, rater 6 all.
    ratings = np.tile(np.array([0.0, 0.0, 8.0, 8.0])[None, :, None], (30, 1, 7))
    ratings += np.array([0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0])
    ratings += np.random.default_rng(0).normal(0, 0.1, ratings.shape)
    ratings[:, 2:, :3] = np.nan
    ratings[:, :2, 3:6] = np.nan
    found = [one.severity for one in report_raters(panel(ratings))]
    assert found == pytest.approx([0, 1, -1, 0, 1, -1, 0], abs=0.05)


def test_errors_cover_the_truth() -> None:
    inside = []
    for seed in range(30):
        ratings = np.random.default_rng(seed).normal(size=(25, 4, 6))
        ratings += np.random.default_rng(seed + 100).normal(0, 0.5, (25, 1, 6))
        inside += [abs(one.severity) < 1.96 * one.error for one in report_raters(panel(ratings))]
    assert 0.88 < np.mean(inside) < 0.99


def test_a_rater_with_one_rating_has_no_error() -> None:
    ratings = noise_only(2, prompts=20, raters=5)
    ratings[..., 4] = np.nan
    ratings[3, 1, 4] = 9.0
    once = report_raters(panel(ratings))[-1]
    assert once.ratings == 1
    assert np.isnan(once.error)
    assert once.shrunk == 0
    assert all(one.error > 0 for one in report_raters(panel(ratings))[:-1])


def test_uncertain_severity_is_drawn_in() -> None:
    for one in report_raters(panel(noise_only(2))):
        assert abs(one.shrunk) <= abs(one.severity)


def test_nobody_is_judged_without_names_or_company() -> None:
    whole = panel(noise_only(0))
    assert report_raters(dataclasses.replace(whole, named=False)) == []
    assert report_raters(panel(noise_only(0, raters=1))) == []


def test_constant_ratings_flag_nobody() -> None:
    found = report_raters(panel(np.full((6, 4, 5), 3.0)))
    assert [one.flags for one in found] == [()] * 5
    assert all(np.isnan(one.agreement) for one in found)
