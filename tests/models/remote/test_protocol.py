from dataclasses import replace
from typing import Any

import pytest

from darc.models.completion import Request
from darc.models.remote.errors import Malformed, Rejected
from darc.models.remote.protocol import (
    adapt_body,
    chat_body,
    read_choices,
    split_total,
    unsupported_field,
)
from darc.types import Message

REQUEST = Request((Message("user", "Hi"),), max_tokens=9, temperature=0.5, top_p=0.9, seed=3)


def choice(text: str, logs: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    content = [{"token": "x", "logprob": log} for log in logs or ()]
    return {
        "message": {"content": text},
        "logprobs": {"content": content} if logs else None,
        **more,
    }


def test_what_is_sent() -> None:
    body = chat_body("m", replace(REQUEST, top=20))
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "max_tokens": 9,
        "logprobs": True,
        "top_logprobs": 20,
    }
    assert adapt_body(body, set()) == body
    assert "top_logprobs" not in chat_body("m", REQUEST)
    other = adapt_body({**body, "n": 4}, {"logprobs", "max_tokens"})
    assert (other["n"], other["max_completion_tokens"]) == (4, 9)
    assert not {"max_tokens", "logprobs", "top_logprobs", "best_of"} & other.keys()


def test_one_choice_counts_by_usage() -> None:
    answer = {"choices": [choice("a b", [-1.0, -2.0], finish_reason="length")]}
    (said,) = read_choices({**answer, "usage": {"completion_tokens": 5}})
    assert (said.tokens, said.truncated) == (5, True)
    assert said.log_likelihood == -1.5
    assert said.alternatives == ()
    (said,) = read_choices(answer)
    assert said.tokens == 2


def test_several_choices_share_the_usage() -> None:
    usage = {"completion_tokens": 10}
    some = [choice("aaaa", index=1), choice("aaaaaa", index=0)]
    found = read_choices({"choices": some, "usage": usage})
    assert [(s.text, s.tokens) for s in found] == [("aaaaaa", 6), ("aaaa", 4)]
    counted = [choice("a", [-1.0] * 3), choice("b", [-1.0] * 7)]
    found = read_choices({"choices": counted, "usage": usage})
    assert [s.tokens for s in found] == [3, 7]


@pytest.mark.parametrize(
    ("total", "sizes", "counts"),
    [(10, [1, 1, 1], [4, 3, 3]), (3, [0, 0], [2, 1]), (0, [5, 5], [0, 0]), (7, [0, 9], [0, 7])],
)
def test_sharing(total: int, sizes: list[int], counts: list[int]) -> None:
    assert split_total(total, sizes) == counts


@pytest.mark.parametrize("logs", [[-1.0, None], [float("-inf"), -1.0]])
def test_broken_log_probabilities_give_none(logs: list[Any]) -> None:
    (said,) = read_choices({"choices": [choice("a", logs)]})
    assert said.log_likelihood is None


def test_answers_without_text() -> None:
    refusal = {"message": {"content": None, "refusal": "No."}, "finish_reason": "content_filter"}
    (said,) = read_choices({"choices": [refusal]})
    assert (said.text, said.truncated) == ("No.", False)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": {"content": [1]}}]},
    ],
)
def test_malformed_answers(answer: Any) -> None:
    with pytest.raises(Malformed):
        read_choices(answer)


def test_errors_name_what_a_server_lacks() -> None:
    def refused(text: str, status: int = 400) -> Rejected:
        return Rejected("", "", status, text)

    assert unsupported_field(refused("no top_logprobs here"), set()) == "logprobs"
    assert unsupported_field(refused("no logprobs"), {"logprobs"}) == ""
    newer = refused("use 'max_completion_tokens' instead")
    assert unsupported_field(newer, {"logprobs"}) == "max_tokens"
    assert unsupported_field(refused("max_completion_tokens is too large"), {"max_tokens"}) == ""
    assert unsupported_field(refused("max_tokens is too large"), set()) == ""
    assert unsupported_field(refused("no logprobs", 404), set()) == ""
