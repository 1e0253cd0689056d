"""A panel whose raters see all answers at once: calls, orders, retries and gaps."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.engine.test_panel_samples import (
    ANSWERS,
    QUESTION,
    VIEWS,
    answers_of,
    graded,
    judge,
    pool,
    rater_of,
)
from tests.fakes.openai_server import FakeServer, Fault

import darc
from darc.engine.engine import Engine
from darc.errors import DarcError
from darc.models.remote.meter import Meter


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        fake.ignores.add("logprobs")
        yield fake


def test_one_call_per_rater_grades_all_answers(server: FakeServer) -> None:
    table = pool(0)
    server.reply = graded(table)
    with Engine(panel=judge(server)) as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
    assert len(server.received) == outcome.calls == outcome.most == 8
    assert np.array_equal(outcome.scores.values[0], table)
    assert outcome.scores.orders == (0, 1) * 4
    assert {rater_of(body) for body in server.bodies} == set(VIEWS)
    for body in server.bodies:
        schema = body["response_format"]["json_schema"]
        assert schema["strict"] is True
        grades = schema["schema"]["properties"]["grades"]
        assert grades["minItems"] == grades["maxItems"] == 8
        assert body["temperature"] == 0
        assert "logprobs" not in body


def test_half_of_the_raters_see_the_reverse_order(server: FakeServer) -> None:
    server.reply = graded(pool(0))
    with Engine(panel=judge(server)) as engine:
        engine.choose(QUESTION, ANSWERS)
    orders = {rater_of(body): answers_of(body) for body in server.bodies}
    forward = [name for name in VIEWS if orders[name] == list(range(8))]
    backward = [name for name in VIEWS if orders[name] == list(range(7, -1, -1))]
    assert forward == list(VIEWS)[::2]
    assert backward == list(VIEWS)[1::2]


def test_the_view_comes_last_so_that_prefixes_are_shared(server: FakeServer) -> None:
    server.reply = graded(pool(0))
    with Engine(panel=judge(server)) as engine:
        engine.choose(QUESTION, ANSWERS)
    prefixes: dict[tuple[int, ...], set[str]] = {}
    for body in server.bodies:
        system, user = (message["content"] for message in body["messages"])
        end = user.rindex("[END ANSWER 8")
        assert VIEWS[rater_of(body)] in user[end:]
        prefixes.setdefault(tuple(answers_of(body)), set()).add(system + user[:end])
    assert [len(texts) for texts in prefixes.values()] == [1, 1]


def test_position_is_no_disagreement(server: FakeServer) -> None:
    """Judges who favour what they read first agree once the orders are balanced."""
    table = np.full((8, 8), 5)

    def reply(body: dict[str, Any], _: int) -> str:
        count = len(answers_of(body))
        return json.dumps({"grades": [8 - place for place in range(count)]})

    server.reply = reply
    with Engine(panel=judge(server), rule="epsilon") as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
    assert outcome.scores.values[0].std() > 1
    assert outcome.panel()["disagreement"] == pytest.approx([0.0] * len(table))
    assert outcome.decision is not None
    assert outcome.decision.statistics.sigma == pytest.approx([0.0] * 8)
    assert outcome.decision.statistics.mean == pytest.approx([4.5] * 8)


@pytest.mark.parametrize("refusal", ["response_format", "something else"])
def test_a_server_without_schemas_is_asked_in_words(server: FakeServer, refusal: str) -> None:
    table = pool(1)
    grade = graded(table)

    class Strict(FakeServer):
        def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
            if "response_format" in body:
                return 400, {"error": {"message": f"cannot read {refusal}"}}
            return super().chat(body)

    with Strict() as fake:
        fake.reply = grade
        with Engine(panel=judge(fake)) as engine:
            outcome = engine.choose(QUESTION, ANSWERS)
            first = len(fake.received)
            engine.choose(f"{QUESTION} Really?", ANSWERS)
        assert first == outcome.calls == 9
        assert len(fake.received) == first + 8
    assert np.array_equal(outcome.scores.values[0], table)


@pytest.mark.parametrize(
    "text",
    [
        '{"grades": [1, 2, 3]}',
        '```json\n{"grades": [1, 2, 3]}\n```',
        "<think>[9, 9, 9]</think>[1, 2, 3]",
        'Here you are: {"grades": [1, 2, 3.0], "note": "x"}',
    ],
)
def test_lists_are_read(server: FakeServer, text: str) -> None:
    server.reply = lambda body, _: text
    with Engine(panel=["1", judge(server)], rule="mean") as engine:
        outcome = engine.choose(QUESTION, ANSWERS[:3])
    assert outcome.scores.values[0, :, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "7",
        '{"grades": [1, 2]}',
        '{"grades": [1, 2, 3, 4]}',
        '{"grades": [1, 2, 11]}',
        '{"grades": [1, 2, null]}',
        '{"grades": [1, true, 3]}',
        "[1, 2, 3",
    ],
)
def test_an_unusable_reply_is_asked_for_once_more_in_a_request(
    server: FakeServer, text: str
) -> None:
    """All raters but one reply with something else: one retry in all."""

    def reply(body: dict[str, Any], _: int) -> str:
        return '{"grades": [3, 4, 5]}' if rater_of(body) == "safety" else text

    server.reply = reply
    with Engine(panel=judge(server)) as engine:
        outcome = engine.choose(QUESTION, ANSWERS[:3])
    assert len(server.received) == outcome.calls == 9
    reminders = [body for body in server.bodies if len(body["messages"]) > 2]
    assert len(reminders) == 1
    assert reminders[0]["messages"][2] == {"role": "assistant", "content": text}
    assert "missing_grades:21" in outcome.flags
    assert outcome.index == 2


def test_a_reminded_judge_counts(server: FakeServer) -> None:
    def reply(body: dict[str, Any], _: int) -> str:
        reminded = len(body["messages"]) > 2
        broken = rater_of(body) == "expert" and not reminded
        return "no idea" if broken else '{"grades": [3, 4, 5]}'

    server.reply = reply
    with Engine(panel=judge(server)) as engine:
        outcome = engine.choose(QUESTION, ANSWERS[:3])
    assert not outcome.scores.failed
    assert len(server.received) == 9


@pytest.mark.parametrize("status", [429, 500, 503])
def test_calls_stay_limited_when_the_server_fails(server: FakeServer, status: int) -> None:
    server.reply = graded(pool(2))
    with Engine(panel=judge(server)) as engine:
        engine.choose(QUESTION, ANSWERS)
        before = len(server.received)
        server.faults = [Fault(status=status)] * 50
        meter = Meter()
        with pytest.raises(DarcError):
            engine.choose(f"{QUESTION} Why?", ANSWERS, meters={"score": meter})
    assert len(server.received) - before == meter.calls <= 9


def test_pessimistic_and_refusing_panels(server: FakeServer) -> None:
    grade = graded(pool(3))

    def reply(body: dict[str, Any], index: int) -> str:
        return "no" if rater_of(body) == "expert" else grade(body, index)

    server.reply = reply
    panel = darc.Panel(model=judge(server), missing="pessimistic")
    with Engine(panel=panel) as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
    assert (outcome.scores.values[0, :, 1] == 0).all()
    assert "rater_failed:expert" in outcome.flags
    refusing = darc.Panel(model=judge(server), missing="refuse")
    with Engine(panel=refusing) as engine, pytest.raises(DarcError, match="expert said 'no'"):
        engine.choose(QUESTION, ANSWERS)


def test_criteria_are_lists_of_their_own(server: FakeServer) -> None:
    server.reply = lambda body, _: '{"accuracy": [8, 4, 2], "clarity": [5, 7, 1]}'
    panel = darc.Panel(model=judge(server), criteria=("accuracy", "clarity")).first(1)
    with Engine(panel=panel) as engine:
        outcome = engine.choose(QUESTION, ANSWERS[:3])
    assert outcome.scores.grades is not None
    assert outcome.scores.grades[:, :, 0, 0].tolist() == [[8, 4, 2], [5, 7, 1]]
    assert outcome.scores.values[0, :, 0].tolist() == [6.5, 5.5, 1.5]


def test_equal_answers_are_shown_to_raters_once(server: FakeServer) -> None:
    server.reply = graded(pool(4))
    with Engine(panel=judge(server)) as engine:
        outcome = engine.choose(QUESTION, [*ANSWERS[:3], ANSWERS[1], f" {ANSWERS[1]}\n"])
    assert [candidate.copies for candidate in outcome.candidates] == [1, 3, 1]
    assert all(sorted(answers_of(body)) == [0, 1, 2] for body in server.bodies)


def test_long_lists_are_graded_in_several_calls(server: FakeServer) -> None:
    def reply(body: dict[str, Any], _: int) -> str:
        count = body["messages"][1]["content"].count("[BEGIN ANSWER")
        return json.dumps({"grades": [5] * count})

    server.reply = reply
    answers = [f"Answer {k}." for k in range(30)]
    with Engine(panel=["2", judge(server)]) as engine:
        outcome = engine.choose(QUESTION, answers)
    assert outcome.calls == 4
    assert not np.isnan(outcome.scores.values).any()


def test_lists_are_kept_for_later(server: FakeServer, tmp_path: Any) -> None:
    from darc.engine.score_cache import ScoreCache

    server.reply = graded(pool(5))
    outcomes = []
    for answers in (ANSWERS, ANSWERS, ANSWERS[:7]):
        with (
            ScoreCache(tmp_path / "scores.sqlite") as cache,
            Engine(panel=judge(server), cache=cache) as engine,
        ):
            outcomes.append(engine.choose(QUESTION, answers))
    assert outcomes[0].scored == outcomes[1].from_cache == 64
    # Grades depend on what else a rater saw.
    assert outcomes[2].from_cache == 0


def test_a_budget_of_calls_ends_the_grading(server: FakeServer) -> None:
    server.reply = graded(pool(6))
    with Engine(panel=judge(server)) as engine:
        outcome = engine.choose(QUESTION, ANSWERS, max_calls=3, strict=False)
    assert outcome.calls == len(server.received) == 3
    assert "budget_calls" in outcome.flags


def test_two_waves_stop_where_the_choice_is_clear(server: FakeServer) -> None:
    clear = np.clip(np.array([9, 2, 3, 2, 3, 2, 2, 3])[:, None] + np.arange(8) % 2, 0, 10)
    server.reply = graded(clear)
    with Engine(panel=judge(server), panel_waves=2) as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
    assert outcome.calls == len(server.received) == 4
    assert outcome.index == 0
    (flag,) = [flag for flag in outcome.flags if flag.startswith("likely:")]
    assert float(flag.partition(":")[2]) >= 0.8
    assert outcome.decision is not None
    assert outcome.decision.is_likely
    asked = [rater for rater in VIEWS if any(rater_of(b) == rater for b in server.bodies)]
    assert asked == list(VIEWS)[:4]
    orders = [answers_of(body)[0] for body in server.bodies]
    assert sorted(orders) == [0, 0, 7, 7]
    assert None not in outcome.panel()["disagreement"]
    assert outcome.panel()["saved"] == 4


def test_two_waves_ask_everybody_where_it_is_close(server: FakeServer) -> None:
    close = np.random.default_rng(0).integers(4, 8, (8, 8))
    server.reply = graded(close)
    with Engine(panel=judge(server), panel_waves=2) as engine:
        outcome = engine.choose(QUESTION, ANSWERS)
        whole = engine.choose(QUESTION, ANSWERS, score_everything=True)
    assert outcome.calls == 8
    assert not outcome.decision.is_likely  # type: ignore[union-attr]
    assert outcome.index == whole.index
