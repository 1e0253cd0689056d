"""A panel whose raters compare pairs of answers in both orders."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.engine.test_panel_samples import ANSWERS, QUESTION, VIEWS, answers_of, judge, rater_of
from tests.fakes.openai_server import FakeServer, Fault

import darc
from darc.engine.engine import Engine
from darc.engine.panel_cost import estimate_panel_cost
from darc.errors import DarcError, InputError
from darc.parts.scorers.pair_judge import number_of_pairs, pairs_to_compare


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


def preferring(worth: list[float]) -> Any:
    """Says the letter of the answer that is worth more."""

    def reply(body: dict[str, Any], _: int) -> str:
        first, second = answers_of(body)
        return "A" if worth[first] > worth[second] else "B"

    return reply


def test_the_answer_that_wins_most_is_chosen(server: FakeServer) -> None:
    server.reply = preferring([1, 3, 0, 2, 5, 4, 6, 2.5])
    with Engine(panel=judge(server), panel_mode="pairwise") as engine:
        cost = estimate_panel_cost(engine.tools, engine.method, 8)
        outcome = engine.choose(QUESTION, ANSWERS)
    assert outcome.index == 6
    assert len(server.received) == outcome.calls == outcome.most == cost.most == 8 * 7 * 2
    assert {rater_of(body) for body in server.bodies} == set(VIEWS)
    assert outcome.scores.values.min() > 0
    assert outcome.scores.values.max() < 10
    assert outcome.scores.values[0].mean(axis=0) == pytest.approx(np.full(8, 5.0), abs=0.5)
    assert outcome.decision is not None
    assert outcome.decision.opinions is not None
    assert not outcome.decision.opinions.known_scale


def test_a_preference_for_the_first_place_is_a_tie(server: FakeServer) -> None:
    server.reply = lambda body, _: "A"
    with Engine(panel=["2", judge(server)], panel_mode="pairwise") as engine:
        outcome = engine.choose(QUESTION, ANSWERS[:3])
    assert outcome.calls == 2 * 3 * 2
    assert outcome.scores.values == pytest.approx(np.full((1, 3, 2), 5.0))


def test_few_answers_are_compared_with_each_other() -> None:
    assert pairs_to_compare(3, 0) == [(0, 1), (0, 2), (1, 2)]
    for seed in range(3):
        pairs = pairs_to_compare(8, seed)
        assert len(pairs) == number_of_pairs(8) == 7
        assert {place for pair in pairs for place in pair} == set(range(8))


def test_a_rater_that_names_no_answer_is_missing(server: FakeServer) -> None:
    prefer = preferring([0, 1, 2])

    def reply(body: dict[str, Any], index: int) -> str:
        return "neither" if rater_of(body) == "expert" else prefer(body, index)

    server.reply = reply
    with Engine(panel=judge(server), panel_mode="pairwise") as engine:
        outcome = engine.choose(QUESTION, ANSWERS[:3])
    assert outcome.index == 2
    assert "rater_failed:expert" in outcome.flags


def test_calls_stay_limited_when_the_server_fails(server: FakeServer) -> None:
    server.faults = [Fault(status=500)] * 50
    with (
        Engine(panel=["2", judge(server)], panel_mode="pairwise") as engine,
        pytest.raises(DarcError),
    ):
        engine.choose(QUESTION, ANSWERS[:3])
    assert len(server.received) <= 2 * 3 * 2


def test_options_that_do_not_go_together(server: FakeServer) -> None:
    with pytest.raises(InputError, match="criteria"):
        darc.Panel(mode="pairwise", criteria=("accuracy",))
    model = f"openai:fake@{server.url},key_env="
    with pytest.raises(InputError, match="pairs"):
        Engine(model, panel_mode="pairwise", stop="pandora")
