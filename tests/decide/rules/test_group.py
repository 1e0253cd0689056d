"""The rule `group` against plain loops, and where it falls back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers import Array

import darc
from darc.decide.method import parse_methods
from darc.errors import InputError
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table

GROUPS = {f"r{j}": ("old", "young")[j % 2] for j in range(8)}


def ratings(apart: float, seed: int = 0) -> tuple[Array, Array]:
    """Ratings (P, K, n) in which groups differ on candidates by a deviation, and who gave them."""
    generator = np.random.default_rng(seed)
    taste = generator.normal(0, apart, (30, 4, 2))
    worth = generator.normal(0, 0.5, (30, 4, 1))
    noise = generator.normal(0, 1, (30, 4, 8))
    people = np.broadcast_to([f"r{j}" for j in range(8)], (30, 4, 8))
    table = worth + taste[:, :, [j % 2 for j in range(8)]] + noise
    table[..., 5:][generator.random((30, 4, 3)) < 0.3] = np.nan
    return table, people


def by_loops(table: Array) -> tuple[float, list[list[list[float]]]]:
    """The ratio, and the groups' shrunken means (P, K, G), as the contract has them."""
    prompts, candidates, size = table.shape
    rows: dict[tuple[int, int, int], list[float]] = {}
    for p in range(prompts):
        for k in range(candidates):
            for j in range(size):
                if not np.isnan(table[p, k, j]):
                    rows.setdefault((p, k, j % 2), []).append(float(table[p, k, j]))
    x = np.nanmean(table, axis=2)
    squares = sum(sum((r - np.mean(own)) ** 2 for r in own) for own in rows.values())
    within = squares / sum(len(own) - 1 for own in rows.values())
    effect = [
        np.mean([np.mean(own) - x[p, k] for (p, k, h), own in rows.items() if h == g])
        for g in (0, 1)
    ]
    df = len(rows) - prompts * candidates - 1
    apart = sum((np.mean(own) - x[p, k] - effect[g]) ** 2 for (p, k, g), own in rows.items()) / df
    spread = max(0.0, apart - within * np.mean([1 / len(own) for own in rows.values()]))
    own = sum(np.var(row) * len(row) for row in x) / (prompts * (candidates - 1))
    own -= within * np.mean(1 / (~np.isnan(table)).sum(axis=2))
    ratio = spread / own
    means = [
        [
            [
                x[p, k]
                + effect[g]
                + spread
                / (spread + within / len(rows[p, k, g]))
                * (np.mean(rows[p, k, g]) - x[p, k] - effect[g])
                for g in (0, 1)
            ]
            for k in range(candidates)
        ]
        for p in range(prompts)
    ]
    return float(ratio), means


def decide(table: Array, people: Array, **options: Any) -> darc.Decisions:
    return darc.select_batch(table, "group", rater_ids=people, rater_groups=GROUPS, **options)


@pytest.mark.parametrize("gamma", [1.0, 5.0])
def test_the_soft_minimum_of_shrunken_group_means_decides(gamma: float) -> None:
    table, people = ratings(1.5)
    ratio, means = by_loops(table)
    assert ratio > 1
    soft = [[-np.log(np.mean(np.exp(-gamma * np.array(m)))) / gamma for m in row] for row in means]
    found = decide(table, people, gamma=gamma)
    assert found.index.tolist() == np.argmax(soft, axis=1).tolist()
    assert found[0].rule.parameters["learnt"]["ratio"] == pytest.approx(ratio)
    assert f"{ratio:.2g} times as much as candidates do" in found[0].explain(details=True)


def test_no_group_is_below_a_floor_where_that_can_be() -> None:
    table, people = ratings(1.5)
    _, means = by_loops(table)
    soft = [[-np.log(np.mean(np.exp(-np.array(m)))) for m in row] for row in means]
    found = decide(table, people, floor=0.3)
    for p, row in enumerate(means):
        fine = [k for k in range(4) if min(row[k]) >= 0.3]
        assert found.index[p] == max(fine or range(4), key=lambda k: soft[p][k])
        assert ("below_floor" in found.flags_of(p)) == (not fine)


def test_where_groups_agree_the_mean_decides_and_says_so() -> None:
    table, people = ratings(0.0)
    found = decide(table, people)
    assert found.index.tolist() == np.nanmean(table, axis=2).argmax(axis=1).tolist()
    assert all(
        "no_groups" in each.flags and "the largest mean" in each.explain(True) for each in found
    )


def test_one_prompt_goes_by_what_others_taught() -> None:
    table, people = ratings(1.5)
    many = decide(table, people)
    learnt = many[0].rule.parameters["learnt"]
    for p in range(5):
        one = darc.select(
            table[p], "group", rater_ids=people[p], rater_groups=GROUPS, learnt=learnt
        )
        assert one.index == many.index[p]
    alone = darc.select(table[0], "group", rater_ids=people[0], rater_groups=GROUPS)
    assert "no_groups" in alone.flags


def test_without_groups_it_is_refused() -> None:
    table, people = ratings(1.0)
    for options in ({}, {"rater_ids": people}, {"rater_ids": people, "rater_groups": {"x": "y"}}):
        with pytest.raises(InputError, match="groups of raters"):
            darc.select_batch(table, "group", **options)


def test_a_file_of_ratings_says_who_is_in_which_group(tmp_path: Path) -> None:
    table, people = ratings(1.5)
    rows = [
        f"p{p},c{k},{people[p, k, j]},{float(table[p, k, j])!r},{GROUPS[people[p, k, j]]}"
        for p, k, j in np.argwhere(~np.isnan(table)).tolist()
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("prompt_id,candidate_id,rater_id,rating,rater_group\n" + "\n".join(rows) + "\n")
    with read_ratings(path) as read:
        (batch,) = decide_table(read, parse_methods(["group"]))
        assert batch.decisions[0].index.tolist() == decide(table, people).index.tolist()


def test_ranks_in_a_file_are_each_raters_own(tmp_path: Path) -> None:
    # Ann, who rates high, did not rate a: by their places b's ratings would be compared with it.
    path = tmp_path / "ratings.csv"
    path.write_text(
        "prompt_id,candidate_id,rater_id,rating\n"
        "p,b,ann,9\np,b,bob,1\np,b,cid,1\np,a,bob,2\np,a,cid,2\n"
    )
    with read_ratings(path) as read:
        (batch,) = decide_table(read, parse_methods(["borda", "veto"]))
        assert [batch.of(0)[i].labels.candidate(batch.of(0)[i].index) for i in (0, 1)] == ["a", "a"]
