import asyncio
import time
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import Array

import darc
from darc.errors import InputError


def learnt(spread: float) -> darc.Calibration:
    """A calibration of candidates whose sigma varies by this factor, in logarithms."""
    generator = np.random.default_rng(6)
    sigma = np.exp(generator.normal(0, spread, (100, 1, 6, 1)))
    mean = generator.normal(0, 0.5, sigma.shape)
    return darc.calibrate(mean + sigma * generator.normal(size=(100, 1, 6, 5)))


RULES: list[tuple[str, dict[str, Any]]] = [
    ("entropic", {}),
    ("epsilon", {}),
    ("penalty", {}),
    ("tau", {"tau": 0.4}),
    ("tau", {"quantile": 0.6, "objective": "mean"}),
    ("cvar", {}),
    ("lcb", {"lam": 1.0}),
    ("mean", {}),
    ("auto", {"sample": "rewrite"}),
    ("auto", {"sample": "rewrite", "calibration": learnt(1.0)}),
]
STRENGTHS: list[tuple[str, dict[str, Any]]] = [
    ("epsilon", {"epsilon": 2.0}),
    ("penalty", {"lam": 0.0}),
    ("tau", {"tau": 0.0}),
    ("tau", {"tau": 0.4, "objective": "mean"}),
    ("tau", {"quantile": 0.25}),
    ("cvar", {"alpha": 0.5}),
    ("lcb", {}),
    ("auto", {"sample": "rewrite", "calibration": learnt(0.1)}),
    ("auto", {"sample": "rewrite", "caution": "low"}),
]
every_rule = pytest.mark.parametrize(
    ("rule", "parameters"),
    [*RULES, *(pytest.param(*each, marks=pytest.mark.slow) for each in STRENGTHS)],
)
lazy_settings = settings(derandomize=True, max_examples=60, deadline=None, database=None)


@st.composite
def pools(draw: st.DrawFn, scorers: int = 1) -> Array:
    """Scores (M, K, n) within (-10, 10): often tied, often ragged, some candidates absent."""
    candidates = draw(st.integers(1, 6))
    size = draw(st.integers(1, 5))
    number = draw(
        st.sampled_from(
            [
                st.integers(-2, 2).map(float),
                st.integers(-10, 10).map(float),
                st.floats(-10, 10),
                st.floats(-1, 1),
            ]
        )
    )
    cells = candidates * size
    scores = np.array(draw(st.lists(number, min_size=scorers * cells, max_size=scorers * cells)))
    gaps = draw(
        st.one_of(st.just([False] * cells), st.lists(st.booleans(), min_size=cells, max_size=cells))
    )
    result = scores.reshape(scorers, candidates, size)
    return np.where(np.array(gaps).reshape(candidates, size), np.nan, result)


def ask_of(scores: Array) -> Any:
    """A scorer that answers from an array and refuses to be asked twice."""
    asked: set[tuple[int, int]] = set()

    def score(pairs: list[tuple[int, int]]) -> Array:
        assert not asked & set(pairs)
        asked.update(pairs)
        return np.array([scores[:, k, i] for k, i in pairs])

    return score


def check(scores: Array, rule: str, batch: int, **options: Any) -> None:
    if np.isnan(scores).all():
        return
    full = darc.select(scores, rule, **options)
    lazy = darc.select_lazily(
        ask_of(scores), scores.shape[1], scores.shape[2], rule, batch_size=batch, **options
    )
    assert lazy.index == full.index
    assert ("infeasible" in lazy.flags) == ("infeasible" in full.flags)
    assert lazy.calls is not None
    assert lazy.calls <= scores[0].size
    assert lazy.bounded is not None
    seen = ~lazy.bounded & full.pools.present[0]
    assert np.allclose(lazy.statistics.value[seen], full.statistics.value[seen], atol=1e-9)
    dropped = lazy.bounded & full.pools.present[0]
    assert np.all(lazy.statistics.value[dropped] >= full.statistics.value[dropped] - 1e-9)
    defined = dropped & ~np.isnan(full.statistics.sigma)
    assert np.all(lazy.statistics.sigma[defined] <= full.statistics.sigma[defined] + 1e-9)
    assert np.all(
        lazy.statistics.risk_premium[defined] <= full.statistics.risk_premium[defined] + 1e-9
    )


@every_rule
@lazy_settings
@given(
    pools(),
    st.sampled_from([0.0, 0.3, 1.0, 5.0, np.inf]),
    st.integers(1, 5),
    st.sampled_from([None, None, 1, 2, 3]),
)
def test_lazy_choice_is_the_full_choice(
    rule: str, parameters: dict[str, Any], scores: Array, beta: float, batch: int, least: int | None
) -> None:
    check(scores, rule, batch, beta=beta, min_samples=least, **parameters)


@every_rule
@settings(lazy_settings, max_examples=40)
@given(pools(scorers=3), st.sampled_from([0.0, 1.0, np.inf]), st.integers(1, 4), st.booleans())
def test_lazy_choice_with_several_scorers(
    rule: str, parameters: dict[str, Any], scores: Array, gamma: float, batch: int, plain: bool
) -> None:
    constants = "none" if plain else ([0.0, 1.0, -2.0], [1.0, 4.0, 0.5])
    check(scores, rule, batch, gamma=gamma, normalize=constants, **parameters)


@pytest.mark.parametrize(
    ("rule", "parameters", "most"),
    [
        ("entropic", {}, 0.40),
        ("epsilon", {}, 0.40),
        ("penalty", {}, 0.40),
        ("cvar", {}, 0.36),
        ("tau", {"tau": 0.5}, 0.55),
        ("lcb", {"lam": 1.0}, 0.58),
        ("auto", {"sample": "rewrite"}, 0.80),
    ],
)
def test_share_of_calls(rule: str, parameters: dict[str, Any], most: float) -> None:
    generator = np.random.default_rng(0)
    calls = 0
    for between, within in [(1, 0.3), (2, 1), (3, 3), (5, 5)] * 3:
        noise = generator.normal(size=(1, 16, 9)) * within
        scores = np.clip(generator.normal(size=(1, 16, 1)) * between + noise, -10, 10)
        lazy = darc.select_lazily(ask_of(scores), 16, 9, rule, **parameters)
        assert lazy.index == darc.select(scores, rule, **parameters).index
        calls += lazy.calls or 0
    assert calls / (12 * 144) < most


def random_grades(generator: np.random.Generator, candidates: int, raters: int) -> Array:
    """Grades 0-10 (K, n) of answers that differ, and divide people differently."""
    level = generator.normal(6.5, 1.5, (candidates, 1))
    spread = generator.choice([0.5, 1.5, 2.5]) * np.exp(
        generator.normal(0, generator.choice([0.0, 0.6]), (candidates, 1))
    )
    grades = level + spread * generator.normal(size=(candidates, raters))
    return np.clip(np.round(grades), 0, 10)


def with_answers_for(scores: Array, unseen: Any, generator: np.random.Generator) -> Array:
    """The scores with other grades where they were never asked for."""
    return np.where(unseen, generator.integers(0, 11, scores.shape), scores)


@pytest.mark.parametrize("caution", [0, 0.5, 1, 2, 10])
@pytest.mark.parametrize("batch", [1, 4, 8])
def test_lazy_choice_by_ratings_is_the_full_choice(caution: float, batch: int) -> None:
    generator = np.random.default_rng(round(10 * caution) + batch)
    options: dict[str, Any] = {
        "caution": caution,
        "sample": "rater",
        "scale": (0, 10),
        "normalize": "none",
    }
    for trial in range(60):
        candidates = int(generator.integers(1, 9))
        raters = int(generator.integers(1, 10))
        scores = random_grades(generator, candidates, raters)
        if trial % 3 == 1:
            # Few different grades make ties.
            scores = np.clip(scores, 5, 8)
        if trial % 3 == 2:
            scores[generator.random(scores.shape) < 0.05] = np.nan
        if np.isnan(scores).all():
            continue
        lazy = darc.select_lazily(
            ask_of(scores[None]),
            candidates,
            raters,
            bounds=(0, 10),
            batch_size=batch,
            **options,
        )
        assert lazy.unseen is not None
        # What was never asked for does not matter, as long as it exists.
        others = with_answers_for(scores, lazy.unseen, generator)
        full = darc.select(others, **options)
        assert lazy.index == full.index
        assert lazy.flags == full.flags
        assert lazy.choice.facts["different"] == pytest.approx(full.choice.facts["different"])
        if np.isnan(scores[~lazy.unseen]).any():
            assert not lazy.unseen.any()


@pytest.mark.parametrize("calibration", [learnt(1.0), learnt(0.1)])
def test_lazy_choice_by_ratings_with_a_calibration(calibration: darc.Calibration) -> None:
    generator = np.random.default_rng(7)
    calls = 0
    for _ in range(30):
        scores = random_grades(generator, 6, 8)
        options: dict[str, Any] = {"calibration": calibration, "normalize": (5.0, 2.0)}
        lazy = darc.select_lazily(ask_of(scores[None]), 6, 8, bounds=(0, 10), **options)
        assert lazy.index == darc.select(scores, **options).index
        calls += lazy.calls or 0
    assert calls < 0.93 * 30 * 48


@lazy_settings
@given(pools(), st.sampled_from(["none", "medium", "high"]), st.integers(1, 5), st.integers(0, 99))
def test_lazy_choice_by_any_ratings_that_exist(
    scores: Array, caution: str, batch: int, seed: int
) -> None:
    if np.isnan(scores).all():
        return
    search = darc.lazy_search(scores.shape[1], scores.shape[2], caution=caution)
    lazy = interleaved(search, scores, batch, Random(seed))
    assert lazy.unseen is not None
    full = darc.select(np.where(lazy.unseen & np.isnan(scores), 0.0, scores), caution=caution)
    assert lazy.index == full.index
    assert lazy.flags == full.flags


def test_several_scorers_of_ratings_are_asked_for_everything() -> None:
    scores = np.random.default_rng(8).normal(size=(3, 4, 5))
    constants = ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    lazy = darc.select_lazily(ask_of(scores), 4, 5, normalize=constants)
    assert lazy.calls == 20
    assert lazy.index == darc.select(scores, normalize=constants).index


def test_an_answer_that_another_one_betters_is_not_completed() -> None:
    """Two of eight grades are enough where no others can save an answer."""
    good = np.full(8, 9.0)
    divisive = np.array([10.0, 10, 10, 10, 10, 2, 2, 2])
    bad = np.array([1.0, 2, 1, 2, 1, 2, 1, 2])
    scores = np.stack([bad, good, divisive])
    lazy = darc.select_lazily(
        ask_of(scores[None]), 3, 8, bounds=(0, 10), sample="rater", scale=(0, 10)
    )
    assert lazy.index == darc.select(scores, scale=(0, 10)).index == 1
    assert lazy.bounded is not None
    assert lazy.bounded.tolist() == [True, False, False]
    assert lazy.opinions is not None
    given_up = lazy.opinions.answer(0)
    seen = [rating.value for rating in given_up.ratings]
    assert seen == bad[: len(seen)].tolist()
    assert 0 < len(seen) < 8
    assert not given_up.complete
    rows = lazy.to_dict()["candidates"]
    assert (rows[0]["mean"], rows[0]["samples"]) == (None, len(seen))
    assert rows[1]["samples"] == 8
    assert "candidate 0" not in lazy.explain()
    assert lazy.opinions.to_dict()["answers"][0]["unhappy"] == len(seen)


def test_few_ratings_can_rule_out_nothing() -> None:
    scores = np.array([[9.0, 9, 9], [1, 1, 1], [0, 0, 0]])
    lazy = darc.select_lazily(ask_of(scores[None]), 3, 3, bounds=(0, 10))
    assert lazy.calls == 9


def test_a_rating_that_does_not_exist_makes_every_other_one_matter() -> None:
    scores = np.array([[9.0] * 7 + [np.nan], [1.0] * 8, [0.0] * 8])
    lazy = darc.select_lazily(ask_of(scores[None]), 3, 8, bounds=(0, 10))
    assert lazy.calls == 24
    assert "shrunk" in lazy.flags


@pytest.mark.parametrize(("candidates", "raters", "most"), [(8, 8, 0.93), (16, 9, 0.80)])
def test_share_of_ratings(candidates: int, raters: int, most: float) -> None:
    generator = np.random.default_rng(0)
    calls = 0
    for _ in range(20):
        scores = random_grades(generator, candidates, raters)
        lazy = darc.select_lazily(ask_of(scores[None]), candidates, raters, bounds=(0, 10))
        calls += lazy.calls or 0
    share = calls / (20 * candidates * raters)
    assert 0.45 < share < most


def test_poor_answers_are_held_by_the_lazy_search_too() -> None:
    scores = np.array([[4.0] * 8, [3.0] * 4 + [4.0] * 4, [0.0] * 8])
    lazy = darc.select_lazily(ask_of(scores[None]), 3, 8, bounds=(0, 10), scale=(0, 10))
    assert (lazy.calls or 24) < 24
    assert lazy.held
    assert lazy.flags == darc.select(scores, scale=(0, 10)).flags


def test_async_form_gives_the_same_decision() -> None:
    scores = np.random.default_rng(3).normal(size=(1, 8, 5))
    sync = ask_of(scores)
    waves = []

    async def score(pairs: list[tuple[int, int]]) -> Any:
        await asyncio.sleep(0)
        waves.append(len(pairs))
        return sync(pairs)

    lazy = asyncio.run(darc.select_lazily_async(score, 8, 5, "entropic", batch_size=4))
    assert lazy.index == darc.select(scores, "entropic").index
    assert sum(waves) == lazy.calls
    assert max(waves) > 1


def test_search_can_be_stopped_at_any_time() -> None:
    scores = np.random.default_rng(4).normal(size=(6, 5))
    search = darc.lazy_search(6, 5, "epsilon")
    with pytest.raises(InputError, match="nothing has been scored"):
        search.best_so_far()
    pairs = search.ask(4)
    search.tell(pairs, [scores[pair] for pair in pairs])
    early = search.best_so_far()
    assert "unfinished" in early.flags
    assert "stopped early" in early.explain()
    with pytest.raises(InputError, match="not certain yet"):
        search.decision()
    while pairs := search.ask(3):
        search.tell(pairs, [scores[pair] for pair in pairs])
    assert search.done
    final = search.best_so_far()
    assert "unfinished" not in final.flags
    assert final.index == darc.select(scores, "epsilon").index
    assert final.to_dict()["calls"] == search.calls


def test_pairs_that_are_pending_are_not_asked_again() -> None:
    search = darc.lazy_search(5, 4, "entropic")
    first = search.ask(3)
    second = search.ask(3)
    assert not set(first) & set(second)
    search.tell(second, np.zeros(len(second)))
    search.tell(first, np.ones(len(first)))
    with pytest.raises(InputError, match="answered already"):
        search.tell(first, np.ones(len(first)))


def test_scores_outside_the_bounds_are_refused_or_clipped() -> None:
    scores = np.array([[1.0, 2.0], [30.0, 3.0]])

    def score(pairs: list[tuple[int, int]]) -> list[float]:
        return [float(scores[pair]) for pair in pairs]

    with pytest.raises(InputError, match=r"score 30 of candidate 1, sample 0, lies outside"):
        darc.select_lazily(score, 2, 2, "entropic")
    clipped = darc.select_lazily(score, 2, 2, "entropic", clip=True)
    assert clipped.index == 1
    assert "clipped" in clipped.flags


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "soft"}, "cannot be searched lazily"),
        ({"rule": "epsilon", "normalize": "prompt"}, "couples all samples"),
        ({"rule": "epsilon", "bounds": (1, 0)}, "finite and rising"),
        ({"rule": "epsilon", "bounds": "wide"}, "not a pair"),
        ({"rule": "epsilon", "epsilon": -1.0}, "epsilon must be 0 or larger"),
        ({"rule": "epsilon", "batch_size": 0}, "batch_size must be at least 1"),
        ({"rule": "epsilon", "beta": -1.0}, "beta must be 0 or larger"),
        ({"no_rating_below": 3.0}, "no_rating_below cannot be checked without every rating"),
        ({"search": "quick"}, "search is 'quick'"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        darc.select_lazily(lambda pairs: np.zeros(len(pairs)), 3, 3, **options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda pairs: [1.0] * (len(pairs) + 1), "for 1 pairs"),
        (lambda pairs: [np.inf] * len(pairs), "infinity"),
        (lambda pairs: [[1.0, 2.0]] * len(pairs), "several scorers cannot be compared"),
    ],
)
def test_bad_answers(answer: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        darc.select_lazily(answer, 3, 3, "entropic")
    assert words in str(caught.value)


def interleaved(
    search: darc.LazySearch, scores: Array, batch: int, random: Random
) -> darc.Decision:
    """The decision when some of the answers that are awaited come, in any order, between asks."""
    answer = ask_of(scores)
    waiting: list[tuple[int, int]] = []
    while (pairs := search.ask(batch)) or waiting:
        waiting += pairs
        random.shuffle(waiting)
        size = random.randint(0 if pairs else 1, len(waiting))
        told = waiting[:size]
        waiting = waiting[size:]
        if told:
            search.tell(told, answer(told))
    return search.decision()


@every_rule
@settings(lazy_settings, max_examples=40)
@given(
    st.sampled_from([1, 3]).flatmap(lambda scorers: pools(scorers=scorers)),
    st.sampled_from([0.0, 1.0, np.inf]),
    st.integers(1, 4),
    st.integers(0, 1000),
    st.sampled_from([None, None, 2]),
)
def test_answers_may_come_in_parts_and_in_any_order(
    rule: str,
    parameters: dict[str, Any],
    scores: Array,
    beta: float,
    batch: int,
    seed: int,
    least: int | None,
) -> None:
    if np.isnan(scores).all():
        return
    options = {**parameters, "beta": beta, "min_samples": least, "normalize": "none"}
    full = darc.select(scores, rule, **options)
    search = darc.lazy_search(scores.shape[1], scores.shape[2], rule, **options)
    lazy = interleaved(search, scores, batch, Random(seed))
    assert lazy.index == full.index
    assert ("infeasible" in lazy.flags) == ("infeasible" in full.flags)


def test_an_answer_that_is_refused_changes_nothing() -> None:
    search = darc.lazy_search(4, 3, "entropic")
    pairs = search.ask(3)
    for values, words in [([1.0, 2.0, 11.0], "outside"), ([1.0, np.inf, 2.0], "infinity")]:
        with pytest.raises(InputError, match=words):
            search.tell(pairs, values)
    with pytest.raises(InputError, match="answered already"):
        search.tell([pairs[0], pairs[0]], [1.0, 2.0])
    assert search.calls == 0
    search.tell(pairs, [1.0, 2.0, 3.0])
    assert search.calls == 3


@pytest.mark.parametrize("scorers", [1, 3])
@pytest.mark.parametrize("together", [True, False])
def test_the_search_itself_is_cheap(scorers: int, together: bool) -> None:
    limit = 0.1
    generator = np.random.default_rng(6)
    scale: Any = None if scorers == 1 else ([0.0] * scorers, [1.0] * scorers)
    for candidates in (8, 16):
        pools = np.clip(
            generator.normal(size=(8, 1, candidates, 1)) * 3
            + generator.normal(size=(8, scorers, candidates, 9)),
            -10,
            10,
        )
        best = np.inf
        for _ in range(3):
            calls = 0
            started = time.process_time()
            for scores in pools:
                lazy = darc.select_lazily(
                    lambda pairs: scores[:, [k for k, _ in pairs], [i for _, i in pairs]].T,  # noqa: B023
                    candidates,
                    9,
                    batch_size=candidates if together else 1,
                    normalize=scale,
                )
                calls += lazy.calls or 0
            best = min(best, (time.process_time() - started) * 1000 / calls)
        print(f"K {candidates}, M {scorers}: {best:.3f} ms a pair, limit {limit} ms")
        assert best < 3 * limit
