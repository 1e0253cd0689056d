from typing import Any

import pytest

from darc.decide.registry import rules
from darc.decide.standards import Standards
from darc.serve.requests import RequestReader, split_model
from darc.serve.settings import ServeSettings
from darc.web.problems import Problem

READER = RequestReader(ServeSettings(k=5))
CHAT_READER = RequestReader(ServeSettings(k=4, model="default"))
MESSAGES = [{"role": "user", "content": "Hi"}]


def test_model_names_a_rule() -> None:
    assert split_model("darc-epsilon/org/model") == ("epsilon", "org/model")
    assert split_model("darc/model") == ("", "model")
    assert split_model("org/model") == ("", "org/model")
    assert split_model("darcy/model") == ("", "darcy/model")


def test_request_wins_over_name_over_settings() -> None:
    assert READER.read_method({}).method.rule.name == "auto"
    assert READER.read_method({}, "tau").method.rule.name == "tau"
    method = READER.read_method({"rule": "penalty", "lam": 2, "k": 3, "beta": 0.5}, "tau")
    assert (method.method.rule.name, method.method.rule.parameters["lam"]) == ("penalty", 2)
    assert (method.options.k, method.method.beta, method.options.n_aug) == (3, 0.5, 8)
    assert READER.read_method({"rule": "epsilon:epsilon=0.5"}).method.rule.parameters == {
        "epsilon": 0.5
    }


@pytest.mark.parametrize(
    "given",
    [
        [], "epsilon", {"rule": "nonsense"}, {"rule": 3}, {"k": 0}, {"k": 65}, {"k": True},
        {"k": 2.5}, {"n_aug": -1}, {"beta": -1}, {"beta": "x"}, {"alpha": 1}, {"nonsense": 1},
        {"epsilon": [1]}, {"budget": 3}, {"budget": {"calls": -1}}, {"budget": {"other": 1}},
        {"policy": "ajar"}, {"metadata": 7}, {"full": "yes"}, {"normalize": "z"}, {"wave": 0},
        {"rule": "x" * 1000}, {"include_original": 1}, {"include_original": False, "n_aug": 0},
        {"include_original": False, "rule": "poisson", "reward": "original"},
        {"caution": "huge"}, {"caution": -1}, {"caution": "1"}, {"caution": True},
        {"caution": [1]}, {"rule": "epsilon", "caution": "high"}, {"no_rating_below": "3"},
        {"threshold": True}, {"poor_below": [1]}, {"poor_below": 1e13}, {"scale": [5, 1]},
        {"scale": [1]}, {"scale": "one"}, {"scale": 5}, {"scale": [1, 1]}, {"scale": {"1": 5}},
        {"scale": [0, 1e300]}, {"scale": ["1", True]}, {"when_held": "never"},
    ],
)  # fmt: skip
def test_an_object_that_cannot_be_used_is_a_400(given: Any) -> None:
    with pytest.raises(Problem) as caught:
        CHAT_READER.read_chat({"messages": MESSAGES, "darc": given})
    assert caught.value.status == 400
    assert str(caught.value.param).startswith("darc")


@pytest.mark.parametrize(
    "given",
    [
        {"lam": -1}, {"rule": "auto:caution=huge"},
        {"rule": "epsilon", "epsilon": -1}, {"rule": "epsilon", "epsilon": "x"},
        {"rule": "cvar", "alpha": 0}, {"rule": "cvar:alpha=x"},
        {"rule": "tau", "quantile": 3}, {"rule": "tau", "tau": 1, "quantile": 0.5},
        {"rule": "lcb:delta=2"}, {"rule": "rbon:per_token=maybe"},
        {"rule": "tau", "objective": "x"},
    ],
)  # fmt: skip
def test_parameters_that_the_rule_refuses_are_a_400(given: Any) -> None:
    with pytest.raises(Problem) as caught:
        READER.read_method(given)
    assert caught.value.status == 400


@pytest.mark.parametrize(("caution", "level"), [("high", "high"), (0.5, 0.5), (3, 3)])
def test_caution_is_a_name_or_a_number(caution: Any, level: Any) -> None:
    method = READER.read_method({"caution": caution})
    assert method.method.rule.parameters["caution"] == level
    assert method.caution_requested
    assert READER.read_method({"lam": 2}).caution_requested
    assert READER.read_method({"rule": "auto:caution=low"}).caution_requested
    assert not READER.read_method({}).caution_requested


def test_a_wrong_caution_or_scale_is_told_what_it_may_be() -> None:
    with pytest.raises(Problem) as caught:
        READER.read_method({"caution": "huge"})
    assert caught.value.param == "darc.caution"
    assert "'none', 'low', 'medium' or 'high', or a valid number" in caught.value.message
    with pytest.raises(Problem, match="greater than or equal to 0"):
        READER.read_method({"caution": -1})
    with pytest.raises(Problem) as caught:
        READER.read_method({"scale": [5, 1]})
    assert caught.value.param == "darc.scale"
    assert caught.value.message.startswith("darc.scale should be two numbers, the lower one first")
    with pytest.raises(Problem, match="it belongs to auto"):
        READER.read_method({"rule": "epsilon", "caution": "high"})


def test_a_request_wins_over_the_servers_caution_and_standards() -> None:
    reader = RequestReader(
        ServeSettings(
            caution="0.5", scale="1-5", threshold=3.5, no_rating_below=2, when_held="more"
        )
    )
    usual = reader.read_method({})
    assert usual.method.rule.parameters["caution"] == 0.5
    assert usual.caution_requested
    assert usual.method.standards == Standards((1, 5), 3.5, 2)
    assert usual.options.when_held == "more"
    given = {"caution": "none", "scale": "0-10", "threshold": 6, "poor_below": 4}
    own = reader.read_method(given)
    assert own.method.rule.parameters["caution"] == "none"
    assert own.method.standards == Standards((0, 10), 6, 2, 4)
    assert reader.read_method({"scale": [0, 100], "threshold": 50}).method.standards.scale == (
        0,
        100,
    )
    assert (
        reader.read_method({"rule": "auto:caution=high"}).method.rule.parameters["caution"]
        == "high"
    )
    assert reader.read_method({"lam": 2}).method.rule.parameters["caution"] == 2
    # The server's caution is no reason to refuse a rule that has none.
    assert reader.read_method({"rule": "epsilon"}).method.rule.name == "epsilon"
    assert not reader.read_method({"rule": "epsilon"}).caution_requested


def test_a_request_wins_over_the_parameters_of_the_servers_rule() -> None:
    reader = RequestReader(ServeSettings(rule="auto:caution=low"))
    assert reader.read_method({}).method.rule.parameters["caution"] == "low"
    assert reader.read_method({"caution": "high"}).method.rule.parameters["caution"] == "high"
    assert (
        reader.read_method({"caution": 2}, "auto:caution=none").method.rule.parameters["caution"]
        == 2
    )


def test_every_rule_is_taken_as_it_is() -> None:

    for name in rules:
        if rules.get(name).calibrate is None:
            READER.read_method({"rule": name})


def test_what_is_answered_here_is_not_sent_on() -> None:
    body = {"model": "darc-mean/m", "messages": MESSAGES, "n": 2, "stream": True, "top_p": 0.5}
    chat = CHAT_READER.read_chat({**body, "darc": {"k": 3}, "future_field": {"x": 1}})
    assert chat.candidate_body() == {
        "model": "m", "messages": MESSAGES, "top_p": 0.5, "future_field": {"x": 1},
    }  # fmt: skip
    assert (chat.body.n, chat.k, chat.body.stream, chat.unchanged) == (2, 3, True, False)


@pytest.mark.parametrize(
    ("body", "k"),
    [({}, 4), ({"temperature": 0}, 1), ({"n": 6}, 6), ({"darc": {"k": 1}, "n": 3}, 1)],
)
def test_number_of_candidates(body: dict[str, Any], k: int) -> None:
    assert CHAT_READER.read_chat({"messages": MESSAGES, **body}).k == k


def test_model_has_a_default() -> None:
    assert CHAT_READER.read_chat({"messages": MESSAGES}).backend_body["model"] == "default"


@pytest.mark.parametrize(
    "body",
    [
        {"best_of": 4}, {"model": 3}, {"n": 0}, {"n": 1.5}, {"stream": "yes"}, {"seed": "x"},
        {"temperature": "hot"}, {"stream_options": 3}, {"n": 1000},
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_400(body: dict[str, Any]) -> None:
    with pytest.raises(Problem) as caught:
        CHAT_READER.read_chat({"messages": MESSAGES, **body})
    assert caught.value.status == 400
    assert caught.value.param == next(iter(body))


@pytest.mark.parametrize(
    "messages",
    [None, [], "Hi", [3], [{}], [{"role": 1}], [{"role": "user", "content": 3}],
     [{"role": "user", "content": [3]}]],
)  # fmt: skip
def test_broken_messages_are_a_400(messages: Any) -> None:
    with pytest.raises(Problem) as caught:
        CHAT_READER.read_chat({"messages": messages})
    assert caught.value.status == 400
    assert str(caught.value.param).startswith("messages")


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ([[1e308, -1e308], [0, 1]], "scores.0.0"),
        ([[0, 1], [None, -1e13]], "scores.1.1"),
        ([[[0, 1], [2, 1e308]]], "scores.0.1.1"),
        ([[[0, 1], [2, "x"]]], "scores.0.1.1"),
    ],
)
def test_scores_that_would_overflow_are_refused_with_their_place(scores: Any, place: str) -> None:
    with pytest.raises(Problem) as caught:
        READER.read_select({"scores": scores})
    assert (caught.value.status, caught.value.param) == (400, place)
    assert caught.value.message.startswith(f"{place} should be ")
