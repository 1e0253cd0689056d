import re
from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes import FakeServer

from darc.errors import DarcError, InputError
from darc.models.completion import Completion, Report, Request
from darc.parts.scorers import Judge, Scorer
from darc.registry import scorers
from darc.types import Message, Prompt

ASKED = Prompt("p", (Message("user", "How long do I boil an egg?"),))


class FakeModel:
    """A model in this process: no alternatives, and a script of replies."""

    name = "scripted"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[Request] = []

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        self.asked += requests
        return [Completion(self.replies.pop(0), 1, False, None) for _ in requests]


def judge(server: FakeServer, **options: Any) -> Judge:
    return Judge(f"fake@{server.url}", **options)


def test_grade_is_the_mean_over_digits(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: "7"
    openai_server.alternatives = lambda body: [{"7": 0.5, " 8": 0.25, "The": 0.2}]
    judging = judge(openai_server, location=6.0, scale=2.0)
    scorer: Scorer = judging
    assert scorer.score([(ASKED, "Long."), (ASKED, "Seven minutes.")]).tolist() == [
        pytest.approx(22 / 3),
        pytest.approx(22 / 3),
    ]
    assert (scorer.bounds, scorer.location, scorer.scale) == ((0.0, 10.0), 6.0, 2.0)
    judging.close()
    body = openai_server.bodies[0]
    assert (body["temperature"], body["top_p"], body["top_logprobs"]) == (0.0, 1.0, 20)
    assert "Seven minutes." in openai_server.bodies[1]["messages"][1]["content"] + str(body)


def test_grade_is_read_from_the_text_where_there_is_no_more(openai_server: FakeServer) -> None:
    openai_server.refuses = {"logprobs"}
    openai_server.reply = lambda body, index: "Grade: 9"
    judging = judge(openai_server)
    assert judging.score([(ASKED, "a")]).tolist() == [9.0]
    judging.close()


def test_nothing_to_grade(openai_server: FakeServer) -> None:
    judging = judge(openai_server)
    assert judging.score([]).shape == (0,)
    judging.close()
    assert openai_server.received == []


def test_model_without_a_number_is_asked_once_more() -> None:
    model = FakeModel("8", "Fine.", "6")
    assert Judge(model).score([(ASKED, "a"), (ASKED, "b")]).tolist() == [8.0, 6.0]
    assert [turn.role for turn in model.asked[2].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    with pytest.raises(DarcError, match=r"judge:scripted.*'Hm\."):
        Judge(FakeModel("Fine.", "Hm.")).score([(ASKED, "a")])


def test_both_orders_are_compared(openai_server: FakeServer) -> None:
    def odds(body: dict[str, Any]) -> list[dict[str, float]]:
        good_first = body["messages"][1]["content"].find("Good") < body["messages"][1][
            "content"
        ].find("Bad")
        return [{"A": 0.9, "B": 0.1} if good_first else {"A": 0.4, "B": 0.6}]

    openai_server.reply = lambda body, index: "A"
    openai_server.alternatives = odds
    judging = judge(openai_server)
    assert judging.compare(ASKED, "Good", "Bad") == pytest.approx((0.9 + 0.6) / 2)
    assert judging.compare(ASKED, "Bad", "Good") == pytest.approx((0.4 + 0.1) / 2)
    judging.close()
    assert Judge(FakeModel("A", "A")).compare(ASKED, "x", "y") == 0.5
    assert Judge(FakeModel("A is", "B")).compare(ASKED, "x", "y") == 1.0
    with pytest.raises(DarcError, match="where a letter was asked for"):
        Judge(FakeModel("Both", "B")).compare(ASKED, "x", "y")


def test_as_users_write_it() -> None:
    judging = scorers.make("judge:org/m@http://h,max_tokens=400,location=6,scale=1.5")
    assert isinstance(judging, Judge)
    assert judging.name == "judge:org/m"
    assert re.fullmatch(r"org/m@http://h/v1 400 [0-9a-f]{16}", judging.version)
    with pytest.raises(InputError, match="write judge:MODEL@URL"):
        scorers.make("judge")
    with pytest.raises(InputError, match="there is no chat model 'gpt'"):
        scorers.make("judge:gpt")
    with pytest.raises(InputError, match=r"too small to judge; write judge:embedded:qwen"):
        scorers.make("judge:embedded")
