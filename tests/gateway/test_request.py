from typing import Any

import pytest

from darc.gateway.request import prompt_id, read_asked, read_prompt
from darc.gateway.settings import Settings
from darc.web.problems import Problem

SETTINGS = Settings(k=4, model="default")
MESSAGES = [{"role": "user", "content": "Hi"}]


def test_what_is_answered_here_is_not_sent_on() -> None:
    body = {"model": "darc-mean/m", "messages": MESSAGES, "n": 2, "stream": True, "top_p": 0.5}
    asked = read_asked({**body, "darc": {"k": 3}, "future_field": {"x": 1}}, SETTINGS)
    assert asked.sent == {
        "model": "m", "messages": MESSAGES, "top_p": 0.5, "future_field": {"x": 1},
    }  # fmt: skip
    assert (asked.n, asked.k, asked.stream, asked.same) == (2, 3, True, False)


@pytest.mark.parametrize(
    ("body", "k"),
    [({}, 4), ({"temperature": 0}, 1), ({"n": 6}, 6), ({"darc": {"k": 1}, "n": 3}, 1)],
)
def test_number_of_candidates(body: dict[str, Any], k: int) -> None:
    assert read_asked({"messages": MESSAGES, **body}, SETTINGS).k == k


def test_model_has_a_default() -> None:
    assert read_asked({"messages": MESSAGES}, SETTINGS).body["model"] == "default"


@pytest.mark.parametrize(
    "body",
    [
        {"best_of": 4}, {"model": 3}, {"n": 0}, {"n": 1.5}, {"stream": "yes"}, {"seed": "x"},
        {"temperature": "hot"}, {"stream_options": 3}, {"n": 1000},
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_400(body: dict[str, Any]) -> None:
    with pytest.raises(Problem) as caught:
        read_asked({"messages": MESSAGES, **body}, SETTINGS)
    assert caught.value.status == 400
    assert caught.value.param == next(iter(body))


def test_parts_become_text_and_nothing_is_fetched() -> None:
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/x.png"}},
    ]
    prompt = read_prompt({"messages": [{"role": "user", "content": content}]})
    assert prompt.question == "What is this?\n[image_url]"


@pytest.mark.parametrize(
    "messages",
    [None, [], "Hi", [3], [{}], [{"role": 1}], [{"role": "user", "content": 3}],
     [{"role": "user", "content": [3]}]],
)  # fmt: skip
def test_broken_messages_are_a_400(messages: Any) -> None:
    with pytest.raises(Problem) as caught:
        read_prompt({"messages": messages})
    assert caught.value.status == 400


def test_prompt_id_depends_on_the_messages_alone() -> None:
    assert prompt_id(MESSAGES) == prompt_id([{"content": "Hi", "role": "user"}])
    assert prompt_id(MESSAGES) != prompt_id([{"content": "Ho", "role": "user"}])
