"""Panels whose raters are asked by what their grades are worth."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.engine.test_panel_samples import (
    ANSWERS,
    QUESTION,
    VIEWS,
    answer_of,
    graded,
    is_list,
    judge,
    rater_of,
)
from tests.fakes.openai_server import FakeServer

import darc
from darc.decide.ids import Ids
from darc.decide.model.calibration import Calibration
from darc.decide.model.learning import learn
from darc.engine.engine import Engine
from darc.errors import InputError
from darc.typing import Array

NAMES = tuple(VIEWS)
POOLS = 12
SEVERITY = np.array([1.0, -1.0, 0.5, -0.5, 0.0, 1.5, -1.5, 0.0])


def pools(count: int, seed: int) -> Array:
    """Grades (pools, candidates, raters) of raters who are severe or lenient."""
    random = np.random.default_rng(seed)
    truth = random.normal(6, 1.2, (count, 8, 1))
    grades = truth + SEVERITY + random.normal(0, 1.4, (count, 8, 8))
    return np.clip(np.round(grades), 0, 10)


def learnt(seed: int = 1) -> Calibration:
    grades = pools(60, seed)
    codes = np.broadcast_to(np.arange(8), grades.shape)
    return learn(grades, Ids(codes, NAMES))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        fake.ignores.add("logprobs")
        yield fake


def adaptive(server: FakeServer, **options: Any) -> Engine:
    options = {"panel_mode": "separate", "calibration": learnt(), **options}
    return Engine(panel=judge(server), adaptive=True, **options)


@pytest.mark.parametrize(
    ("price", "most_asked", "least_same"), [(0.005, 0.4, 0.6), (0.001, 0.6, 0.8)]
)
def test_calls_are_saved_and_most_choices_are_those_of_the_whole_panel(
    server: FakeServer, price: float, most_asked: float, least_same: float
) -> None:
    same = 0
    asked = 0
    ids = [list(NAMES)] * 8
    with adaptive(server, call_price=price) as engine:
        for number, table in enumerate(pools(POOLS, 2)):
            server.reply = graded(table)
            outcome = engine.choose(f"{QUESTION} {number}", ANSWERS)
            assert outcome.calls == len(server.received)
            assert outcome.panel()["saved"] == 64 - outcome.calls
            pairs = [(answer_of(body), rater_of(body)) for body in server.bodies]
            assert len(pairs) == len(set(pairs))
            check_order(pairs)
            assert outcome.decision is not None
            assert outcome.decision.is_likely
            assert outcome.decision.how_sure is not None
            assert outcome.decision.how_sure.in_words() in outcome.to_html()
            asked += outcome.calls
            server.received.clear()
            whole = darc.select(table, "auto", calibration=learnt(), rater_ids=ids)
            same += whole.index == outcome.index
    assert asked <= most_asked * 64 * POOLS
    assert same >= least_same * POOLS


def check_order(pairs: list[tuple[int, str]]) -> None:
    """Every answer is graded by the first raters of one order."""
    raters_of = {answer: [name for k, name in pairs if k == answer] for answer in range(8)}
    longest = max(raters_of.values(), key=len)
    for raters in raters_of.values():
        assert raters
        assert set(raters) == set(longest[: len(raters)])


def test_prompts_have_their_own_order_of_raters(server: FakeServer) -> None:
    first_raters = set()
    server.reply = graded(pools(1, 3)[0])
    with adaptive(server, call_price=100) as engine:
        for question in ("Why?", "How?", "Where?", "Who?", "When?"):
            server.received.clear()
            outcome = engine.choose(question, ANSWERS)
            assert outcome.calls <= 10
            first_raters.add(rater_of(server.bodies[0]))
    assert len(first_raters) > 1


def test_without_a_price_everything_is_asked_for_that_can_matter(server: FakeServer) -> None:
    table = pools(1, 4)[0]
    server.reply = graded(table)
    with adaptive(server, call_price=0) as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
    assert outcome.calls > 40
    assert outcome.index == darc.select(table, "mean").index


def test_raters_of_lists_are_asked_two_at_a_time(server: FakeServer) -> None:
    clear = np.zeros((8, 8)) + 2
    clear[3] = 10
    server.reply = graded(clear)
    with adaptive(server, panel_mode="listwise") as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
        assert outcome.calls == len(server.received) == 2
        assert all(is_list(body) for body in server.bodies)
        places = [NAMES.index(rater_of(body)) for body in server.bodies]
        assert sorted(place % 2 for place in places) == [0, 1]
        assert outcome.index == 3
        assert outcome.panel()["saved"] == 6
        assert any(flag.startswith("likely:") for flag in outcome.flags)
        everything = engine.choose(QUESTION, ANSWERS, score_everything=True)
    assert everything.calls == 8
    assert not any(flag.startswith("likely:") for flag in everything.flags)


def test_a_rater_who_does_not_answer_is_passed_over(server: FakeServer) -> None:
    grade = graded(pools(1, 5)[0])

    def reply(body: dict[str, Any], index: int) -> str:
        return "I would rather not." if rater_of(body) == "expert" else grade(body, index)

    server.reply = reply
    with adaptive(server, call_price=0.0) as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
    assert any(flag == "rater_failed:expert" for flag in outcome.flags)


def test_a_budget_ends_the_asking(server: FakeServer) -> None:
    server.reply = graded(pools(1, 6)[0])
    with adaptive(server) as engine:
        outcome = engine.choose(QUESTION, ANSWERS, max_calls=9, strict=False)
    assert outcome.calls == 9
    assert "budget_calls" in outcome.flags


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"calibration": None}, "how far the raters' grades vary"),
        ({"calibration": Calibration(within=2.0, within_df=50)}, "how severe the rater"),
        ({"rule": "epsilon", "calibration": None}, "rule epsilon needs every grade"),
        ({"panel_mode": "pairwise"}, "compare pairs"),
        ({"repeats": 2}, "several times"),
        ({"no_rating_below": 3.0}, "lowest acceptable grade"),
    ],
)
def test_what_cannot_be_asked_adaptively_is_refused(
    server: FakeServer, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        adaptive(server, **options)


def test_adaptive_asking_needs_a_panel() -> None:
    with pytest.raises(InputError, match="needs a panel"):
        Engine(scorers=["form"], adaptive=True, calibration=learnt())
