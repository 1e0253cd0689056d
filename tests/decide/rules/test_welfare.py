"""Rules over raters, and `pessimism`, against plain loops."""

from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from tests.helpers import Array

import darc
from darc.decide.statistics.draws import prompt_seeds, uniforms
from darc.errors import InputError

RULES = ("borda", "leximin", "nash", "veto", "pessimism")


def tables() -> list[Array]:
    """Whole ratings 0 to 5, with ties; a third of the tables have gaps."""
    generator = np.random.default_rng(0)
    made = []
    for place in range(60):
        k = generator.integers(2, 7)
        n = generator.integers(1, 8)
        table = generator.integers(0, 6, (k, n)).astype(float)
        if place % 3 == 0:
            gone = generator.random((k, n)) < 0.3
            gone[:, 0] = False
            table[gone] = np.nan
        made.append(table)
    return made


def mean_rank(table: Array) -> list[float]:
    """The share of the others below each candidate, for each rater, averaged over raters."""
    result = []
    for k in range(len(table)):
        shares = []
        for j in range(table.shape[1]):
            others = [
                table[i, j]
                for i in range(len(table))
                if i != k and not np.isnan(table[i, j]) and not np.isnan(table[k, j])
            ]
            if others:
                wins = (
                    sum(x < table[k, j] for x in others) + sum(x == table[k, j] for x in others) / 2
                )
                shares.append(wins / len(others))
        result.append(sum(shares) / len(shares) if shares else 0.5)
    return result


def consumed(table: Array) -> list[Fraction]:
    """When each candidate is used up, in exact fractions; infinity where it never is."""
    k, n = table.shape
    left = {i: Fraction(1) for i in range(k)}
    until = [Fraction(10**6)] * k
    clock = Fraction(0)
    while left:
        speed = dict.fromkeys(left, Fraction(0))
        for j in range(n):
            rated = [i for i in left if not np.isnan(table[i, j])]
            lowest = [i for i in rated if table[i, j] == min(table[r, j] for r in rated)]
            for i in lowest:
                speed[i] += Fraction(1, len(lowest))
        if not any(speed.values()):
            break
        time = min(left[i] / speed[i] for i in left if speed[i])
        clock += time
        for i in list(left):
            left[i] -= speed[i] * time
            if not left[i]:
                until[i] = clock
                del left[i]
    return until


def best(keys: list[Any], table: Array) -> int:
    """The place of the largest key, ties to the larger mean, then to the lower place."""
    means = [round(float(np.nanmean(row)), 9) for row in table]
    return max(range(len(keys)), key=lambda k: (keys[k], means[k], -k))


@pytest.mark.parametrize("table", tables(), ids=str)
def test_ranks_and_vetoes_are_those_of_plain_loops(table: Array) -> None:
    few: dict[str, Any] = {"min_samples": 1}
    ranks = [round(x, 9) for x in mean_rank(table)]
    assert darc.select(table, "borda", **few).index == best(ranks, table)
    assert darc.select(table, "veto", **few).index == best(consumed(table), table)


@pytest.mark.parametrize("table", tables(), ids=str)
def test_welfare_is_that_of_plain_loops(table: Array) -> None:
    rows = [sorted(row[~np.isnan(row)].tolist()) for row in table]
    low = min(map(min, rows))
    high = max(map(max, rows))
    floor = low - ((high - low) / 10 or 1.0)
    gains = [round(sum(log(x - floor) for x in row) / len(row), 9) for row in rows]
    assert darc.select(table, "nash", min_samples=1).index == best(gains, table)
    if not np.isnan(table).any():
        assert darc.select(table, "leximin").index == best(rows, table)


def test_what_few_hate_loses_though_its_mean_leads() -> None:
    ratings = np.array([[10, 10, 10, 0], [7, 8, 7, 8], [2, 2, 2, 9]], dtype=float)
    assert darc.select(ratings, "mean").index == 0
    assert [darc.select(ratings, rule).index for rule in ("leximin", "nash")] == [1, 1]
    # One of four can rule out a quarter of three candidates, which is none.
    assert [darc.select(ratings, rule).index for rule in ("borda", "veto")] == [0, 0]
    assert darc.select(ratings, "nash", floor=0.0).index == 1
    with pytest.raises(InputError, match="floor must be a number"):
        darc.select(ratings, "nash", floor=float("nan"))


def test_quantiles_are_compared_where_counts_differ() -> None:
    nan = float("nan")
    assert darc.select([[3.0, nan, 5.0, nan], [3.0, 3.0, 4.0, 9.0]], "leximin").index == 0
    assert darc.select([[3.0, nan, 4.0, nan], [3.0, 3.0, 4.0, 9.0]], "leximin").index == 1


@pytest.mark.parametrize("rule", ["borda", "veto"])
def test_only_the_order_of_each_rater_counts(rule: str) -> None:
    generator = np.random.default_rng(1)
    scores = generator.normal(size=(40, 5, 7))
    bent = np.exp(scores * generator.uniform(0.5, 2, 7) + generator.normal(size=7))
    # Their ties go to the larger mean, which is no matter of order.
    found, other = (darc.select_batch(each, rule).choice.objective for each in (scores, bent))
    assert np.array_equal(found, other)


@pytest.mark.parametrize("rule", ["borda", "veto"])
def test_raters_are_known_by_their_ids(rule: str) -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal(size=(30, 5, 6))
    order = np.argsort(generator.random(scores.shape), axis=2)
    mixed = np.take_along_axis(scores, order, axis=2)
    named = [[[f"r{j}" for j in row] for row in pool] for pool in order]
    expected = darc.select_batch(scores, rule).index
    assert np.array_equal(darc.select_batch(mixed, rule, rater_ids=named).index, expected)
    assert not np.array_equal(darc.select_batch(mixed, rule).index, expected)
    unknown = np.full(scores.shape, -1)
    assert np.array_equal(darc.select_batch(scores, rule, rater_ids=unknown).index, expected)


@pytest.mark.parametrize("b", [0.1, 1.0, 5.0])
def test_pessimism_accepts_by_weight_in_a_random_order(b: float) -> None:
    generator = np.random.default_rng(3)
    scores = generator.normal(0, 2, (200, 6, 3))
    found = darc.select_batch(scores, "pessimism", b=b)
    seeds = prompt_seeds(0, range(200))
    for place, pool in enumerate(scores):
        mean = pool.mean(axis=1)
        low = mean.min() - 6 * b
        high = mean.max()
        for _ in range(100):
            t = (low + high) / 2
            low, high = (t, high) if np.maximum(0, (mean - t) / b).mean() > 1 else (low, t)
        weight = np.maximum(0, (mean - t) / b)
        lots = uniforms(seeds[place : place + 1], 12)[0]
        order = np.argsort(lots[:6])
        first = next(k for k in order if lots[6 + k] < weight[k] / weight.max())
        assert found.index[place] == first
    assert np.array_equal(
        darc.select_batch(scores, "pessimism", b=0.0).index, darc.select_batch(scores, "mean").index
    )


@pytest.mark.parametrize("rule", RULES)
def test_several_scorers_and_gaps_are_taken(rule: str) -> None:
    scores = np.random.default_rng(4).normal(size=(9, 2, 4, 5))
    scores[0, :, 1] = np.nan
    scores[1, 0, :, 2] = np.nan
    found = darc.select_batch(scores, rule)
    assert found.index[0] != 1
    alone = [darc.select(pool, rule, prompt_id=place).index for place, pool in enumerate(scores)]
    assert found.index.tolist() == alone


def test_they_are_evaluated_where_they_are_named() -> None:
    from darc.analysis.evaluate.methods import compared_methods

    usual = [spec.text for spec in compared_methods()]
    assert not set(RULES) & set(usual)
    assert [spec.text for spec in compared_methods(["borda"])] == ["mean", "borda"]
