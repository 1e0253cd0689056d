from functools import partial
from math import ceil

import numpy as np
import pytest

from darc.analysis.bootstrap import (
    average,
    draw_counts,
    estimate,
    interval,
    over_splits,
    tail,
)

GENERATOR = np.random.default_rng(5)


def cases() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = GENERATOR.normal(size=(3, 2, 23))
    values[1, 0, 4] = np.nan
    among = GENERATOR.random((3, 23)) < 0.7
    return values, among, draw_counts(23, 40, 1)


def written_out(values: np.ndarray, among: np.ndarray, counts: np.ndarray) -> list[float]:
    return [
        value
        for value, there, times in zip(values, among, counts, strict=True)
        if there and not np.isnan(value)
        for _ in range(int(times))
    ]


def test_means_and_tails_are_those_of_resamples_written_out() -> None:
    values, among, counts = cases()
    means = average(values, among, counts)
    tails = tail(values, among, counts, 0.15)
    for b, r, a in np.ndindex(*means.shape):
        drawn = sorted(written_out(values[r, a], among[r], counts[b]))
        assert means[b, r, a] == pytest.approx(np.mean(drawn))
        lowest = drawn[: ceil(0.15 * len(drawn) - 1e-9)]
        assert tails[b, r, a] == pytest.approx(np.mean(lowest))


def test_the_short_way_is_the_long_way() -> None:
    values = GENERATOR.normal(size=(4, 3, 11))
    counts = draw_counts(11, 30, 2)
    short = average(values, np.ones((4, 11), dtype=bool), counts)
    assert short.shape[1] == 1
    each = [average(one[None], np.ones((1, 11), dtype=bool), counts)[:, 0] for one in values]
    assert np.allclose(over_splits(short), np.mean(each, axis=0))


def test_resamples_have_as_many_prompts_and_a_seed() -> None:
    counts = draw_counts(17, 50, 3)
    assert (counts.sum(axis=1) == 17).all()
    assert np.array_equal(counts, draw_counts(17, 50, 3))
    assert not np.array_equal(counts, draw_counts(17, 50, 4))


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    hits = 0
    for seed in range(200):
        values = np.random.default_rng(seed).normal(1.0, 1.0, (1, 1, 60))
        everyone = np.ones((1, 60), dtype=bool)
        counts = draw_counts(60, 400, seed)
        point, ends = estimate(partial(average, values, everyone), counts)
        assert point[0] == pytest.approx(values.mean())
        hits += bool(ends[0, 0] <= 1.0 <= ends[1, 0])
    assert 0.88 <= hits / 200 <= 0.99


def test_one_prompt_has_no_interval() -> None:
    one = np.ones((1, 1), dtype=bool)
    point, ends = estimate(lambda c: average(np.full((1, 2, 1), 3.0), one, c), np.ones((9, 1)))
    assert point.tolist() == [3.0, 3.0]
    assert np.isnan(ends).all()


def test_interval_leaves_nan_out() -> None:
    draws = np.array([[np.nan, np.nan], [1.0, np.nan], [3.0, np.nan]])
    ends = interval(draws, 0.5)
    assert ends[:, 0].tolist() == [1.5, 2.5]
    assert np.isnan(ends[:, 1]).all()
