from random import Random
from time import process_time
from typing import Any

import numpy as np
import pytest
from tests.decide.search.test_lazy import ask_of, interleaved, random_grades
from tests.helpers import Array

import darc
from darc.decide.model.calibration import DEFAULT
from darc.decide.phrases import incomplete_phrase
from darc.decide.pools import Pools
from darc.decide.search.likely import DRAWS, Completions, LikelySearch

GRADES: dict[str, Any] = {"bounds": (0, 10), "sample": "rater", "scale": (0, 10)}


def search_of(scores: Array, batch: int = 8, **options: Any) -> darc.Decision:
    candidates, raters = scores.shape
    return darc.select_lazily(
        ask_of(scores[None]),
        candidates,
        raters,
        batch_size=batch,
        search="likely",
        **GRADES,
        **options,
    )


def test_likely_choices_are_nearly_always_the_full_ones_and_take_fewer_calls() -> None:
    generator = np.random.default_rng(3)
    pools = 60
    wrong = 0
    likely_calls = 0
    exact_calls = 0
    for _ in range(pools):
        scores = random_grades(generator, 8, 8)
        likely = search_of(scores)
        exact = darc.select_lazily(ask_of(scores[None]), 8, 8, batch_size=8, **GRADES)
        wrong += likely.index != exact.index
        likely_calls += likely.calls or 0
        exact_calls += exact.calls or 0
        if likely.calls == scores.size:
            assert likely.flags == exact.flags
    assert wrong <= 0.07 * pools
    assert likely_calls < 0.8 * exact_calls


def test_a_likely_decision_says_so_and_shows_seen_ratings_only() -> None:
    scores = np.array([[2.0, 3] * 4, [9, 8] * 4, [5, 4] * 4, [3, 3] * 4])
    decision = search_of(scores, batch=4)
    assert decision.index == 1
    assert decision.is_likely
    assert "likely:0.99" in decision.flags
    assert "shrunk" not in decision.flags
    assert "by estimate the choice is final with probability 99 %" in (decision.explain())
    assert decision.opinions is not None
    assert decision.opinions.best_mean == 1
    assert sum(answer.count for answer in decision.opinions.answers) == decision.calls
    assert (decision.calls or 32) < 32
    assert incomplete_phrase(decision, 0) == "unlikely to win, after 2 of 8 ratings"
    assert incomplete_phrase(decision, 1) == ""
    rows = decision.to_dict()["candidates"]
    assert [row["mean"] is None for row in rows] == [True, False, True, True]
    assert sum(row["samples"] for row in rows) == decision.calls


def test_the_first_step_asks_for_two_ratings_of_each() -> None:
    search = darc.lazy_search(3, 5, search="likely", **GRADES)
    first = search.ask(6)
    assert sorted(first) == [(k, i) for k in range(3) for i in range(2)]
    assert search.ask(6) == []
    search.tell(first, [5.0] * 6)
    assert search.ask(1)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_answers_does_not_matter_to_the_draws(seed: int) -> None:
    scores = random_grades(np.random.default_rng(seed), 5, 6)
    decisions = [search_of(scores, batch=3) for _ in range(2)]
    assert decisions[0].index == decisions[1].index
    assert decisions[0].calls == decisions[1].calls
    search = darc.lazy_search(5, 6, search="likely", **GRADES)
    late = interleaved(search, scores[None], 3, Random(seed))
    assert late.calls is not None
    assert late.calls <= scores.size


def test_ratings_that_do_not_exist() -> None:
    scores = random_grades(np.random.default_rng(5), 4, 6)
    scores[1] = np.nan
    scores[2, 2:] = np.nan
    decision = search_of(scores)
    assert decision.index in (0, 2, 3)
    assert np.isnan(decision.ratings[1]).all()


def test_equal_ratings_are_not_taken_for_certain() -> None:
    search = darc.lazy_search(4, 8, search="likely", **GRADES)
    first = search.ask(8)
    search.tell(first, [7.0] * 8)
    assert not search.done


def test_stopping_early() -> None:
    search = darc.lazy_search(4, 8, search="likely", **GRADES)
    search.tell(search.ask(4), [5.0, 6.0, 7.0, 8.0])
    assert "unfinished" in search.best_so_far().flags
    assert not search.best_so_far().is_likely


@pytest.mark.parametrize(
    ("rule", "options"),
    [("auto", {"sample": "rewrite"}), ("entropic", {}), ("mean", {"sample": "rater"})],
)
def test_elsewhere_the_search_is_exact(rule: str, options: dict[str, Any]) -> None:
    search = darc.lazy_search(3, 5, rule, search="likely", **options)
    assert not isinstance(search, LikelySearch)


def test_several_scorers_are_searched_exactly() -> None:
    scores = np.random.default_rng(8).normal(size=(2, 4, 5))
    constants = ([0.0, 0.0], [1.0, 1.0])
    decision = darc.select_lazily(ask_of(scores), 4, 5, normalize=constants, search="likely")
    assert decision.calls == 20
    assert not decision.is_likely


def test_draws_keep_what_is_seen_and_stay_on_the_scale() -> None:
    ratings = np.array([[9.0, np.nan, 7.0, np.nan], [1.0, 2.0, np.nan, np.nan]])
    unseen = np.array([[False, True, False, True], [False, False, True, False]])
    rule = darc.rules.get("auto").bind(calibration=DEFAULT)
    draws = Completions(rule, Pools(ratings[None, None], min_samples=1), 0.0, 10.0)
    completed = draws.draw(ratings, unseen)
    assert completed.shape == (DRAWS, 2, 4)
    assert (completed[:, 0, :2] == [7.0, 9.0]).all()
    assert (completed[:, 1, :2] == [1.0, 2.0]).all()
    assert np.isnan(completed[:, 1, 3]).all()
    known = completed[~np.isnan(completed)]
    assert known.min() >= 0
    assert known.max() <= 10
    assert 6.5 < completed[:, 0, 2:].mean() < 8.5
    # Some ratings repeat what is seen, and some are new.
    repeated = np.isin(completed[:, 0, 2:], [7.0, 9.0]).mean()
    assert 0.2 < repeated < 0.8
    assert draws.win_shares(ratings, unseen)[0] > 0.9


def test_deciding_what_to_ask_is_cheap() -> None:
    scores = random_grades(np.random.default_rng(2), 8, 8)
    search = darc.lazy_search(8, 8, search="likely", **GRADES)
    fastest = np.inf
    while True:
        started = process_time()
        pairs = search.ask(1)
        spent = process_time() - started
        if not pairs:
            break
        if search.calls >= 16:
            fastest = min(fastest, spent)
        search.tell(pairs, [scores[pair] for pair in pairs])
    print(f"{1000 * fastest:.1f} ms to decide what to ask, limit 10 ms")
    assert fastest < 0.03
