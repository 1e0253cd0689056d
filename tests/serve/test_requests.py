from typing import Any

import pytest

import darc
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.standards import Standards
from darc.serve.requests import (
    Forms,
    parameters_of,
    read_prompt,
    split_model,
)
from darc.serve.settings import ServeSettings
from darc.web.problems import Problem

FORMS = Forms(ServeSettings(k=5))
CHATS = Forms(ServeSettings(k=4, model="default"))
MESSAGES = [{"role": "user", "content": "Hi"}]


def test_model_names_a_rule() -> None:
    assert split_model("darc-epsilon/org/model") == ("epsilon", "org/model")
    assert split_model("darc/model") == ("", "model")
    assert split_model("org/model") == ("", "org/model")
    assert split_model("darcy/model") == ("", "darcy/model")


def test_request_wins_over_name_over_settings() -> None:
    assert FORMS.method({}).spec.rule.name == "auto"
    assert FORMS.method({}, "tau").spec.rule.name == "tau"
    method = FORMS.method({"rule": "penalty", "lam": 2, "k": 3, "beta": 0.5}, "tau")
    assert (method.spec.rule.name, method.spec.rule.parameters["lam"]) == ("penalty", 2)
    assert (method.options.k, method.spec.beta, method.options.n_aug) == (3, 0.5, 8)
    assert FORMS.method({"rule": "epsilon:epsilon=0.5"}).spec.rule.parameters == {"epsilon": 0.5}


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
        CHATS.chat({"messages": MESSAGES, "darc": given})
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
        FORMS.method(given)
    assert caught.value.status == 400


@pytest.mark.parametrize(("caution", "level"), [("high", "high"), (0.5, 0.5), (3, 3)])
def test_caution_is_a_name_or_a_number(caution: Any, level: Any) -> None:
    method = FORMS.method({"caution": caution})
    assert method.spec.rule.parameters["caution"] == level
    assert method.caution_requested
    assert FORMS.method({"lam": 2}).caution_requested
    assert FORMS.method({"rule": "auto:caution=low"}).caution_requested
    assert not FORMS.method({}).caution_requested


def test_a_wrong_caution_or_scale_is_told_what_it_may_be() -> None:
    with pytest.raises(Problem) as caught:
        FORMS.method({"caution": "huge"})
    assert caught.value.param == "darc.caution"
    assert "'none', 'low', 'medium' or 'high', or a valid number" in caught.value.message
    with pytest.raises(Problem, match="greater than or equal to 0"):
        FORMS.method({"caution": -1})
    with pytest.raises(Problem) as caught:
        FORMS.method({"scale": [5, 1]})
    assert caught.value.param == "darc.scale"
    assert caught.value.message.startswith("darc.scale should be two numbers, the lower one first")
    with pytest.raises(Problem, match="it belongs to auto"):
        FORMS.method({"rule": "epsilon", "caution": "high"})


def test_a_request_wins_over_the_servers_caution_and_standards() -> None:
    forms = Forms(
        ServeSettings(
            caution="0.5", scale="1-5", threshold=3.5, no_rating_below=2, when_held="more"
        )
    )
    usual = forms.method({})
    assert usual.spec.rule.parameters["caution"] == 0.5
    assert usual.caution_requested
    assert usual.standards == Standards((1, 5), 3.5, 2)
    assert usual.options.when_held == "more"
    given = {"caution": "none", "scale": "0-10", "threshold": 6, "poor_below": 4}
    own = forms.method(given)
    assert own.spec.rule.parameters["caution"] == "none"
    assert own.standards == Standards((0, 10), 6, 2, 4)
    assert forms.method({"scale": [0, 100], "threshold": 50}).standards.scale == (0, 100)
    assert forms.method({"rule": "auto:caution=high"}).spec.rule.parameters["caution"] == "high"
    assert forms.method({"lam": 2}).spec.rule.parameters["caution"] == 2
    # The server's caution is no reason to refuse a rule that has none.
    assert forms.method({"rule": "epsilon"}).spec.rule.name == "epsilon"
    assert not forms.method({"rule": "epsilon"}).caution_requested


def test_a_request_wins_over_the_parameters_of_the_servers_rule() -> None:
    forms = Forms(ServeSettings(rule="auto:caution=low"))
    assert forms.method({}).spec.rule.parameters["caution"] == "low"
    assert forms.method({"caution": "high"}).spec.rule.parameters["caution"] == "high"
    assert forms.method({"caution": 2}, "auto:caution=none").spec.rule.parameters["caution"] == 2


def test_every_rule_is_taken_as_it_is() -> None:
    from darc.decide.registry import rules

    for name in rules:
        if rules.get(name).calibrate is None:
            FORMS.method({"rule": name})


def test_what_is_answered_here_is_not_sent_on() -> None:
    body = {"model": "darc-mean/m", "messages": MESSAGES, "n": 2, "stream": True, "top_p": 0.5}
    asked = CHATS.chat({**body, "darc": {"k": 3}, "future_field": {"x": 1}})
    assert asked.sent == {
        "model": "m", "messages": MESSAGES, "top_p": 0.5, "future_field": {"x": 1},
    }  # fmt: skip
    assert (asked.given.n, asked.k, asked.given.stream, asked.same) == (2, 3, True, False)


@pytest.mark.parametrize(
    ("body", "k"),
    [({}, 4), ({"temperature": 0}, 1), ({"n": 6}, 6), ({"darc": {"k": 1}, "n": 3}, 1)],
)
def test_number_of_candidates(body: dict[str, Any], k: int) -> None:
    assert CHATS.chat({"messages": MESSAGES, **body}).k == k


def test_model_has_a_default() -> None:
    assert CHATS.chat({"messages": MESSAGES}).body["model"] == "default"


@pytest.mark.parametrize(
    "body",
    [
        {"best_of": 4}, {"model": 3}, {"n": 0}, {"n": 1.5}, {"stream": "yes"}, {"seed": "x"},
        {"temperature": "hot"}, {"stream_options": 3}, {"n": 1000},
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_400(body: dict[str, Any]) -> None:
    with pytest.raises(Problem) as caught:
        CHATS.chat({"messages": MESSAGES, **body})
    assert caught.value.status == 400
    assert caught.value.param == next(iter(body))


def test_parts_become_text_and_nothing_is_fetched() -> None:
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/x.png"}},
    ]
    prompt = read_prompt([{"role": "user", "content": content}])
    assert prompt.question == "What is this?\n[image_url]"


@pytest.mark.parametrize(
    "messages",
    [None, [], "Hi", [3], [{}], [{"role": 1}], [{"role": "user", "content": 3}],
     [{"role": "user", "content": [3]}]],
)  # fmt: skip
def test_broken_messages_are_a_400(messages: Any) -> None:
    with pytest.raises(Problem) as caught:
        CHATS.chat({"messages": messages})
    assert caught.value.status == 400
    assert str(caught.value.param).startswith("messages")


def test_prompt_id_depends_on_the_messages_alone() -> None:
    own = read_prompt(MESSAGES).id
    assert own == read_prompt([{"content": "Hi", "role": "user"}]).id
    assert own != read_prompt([{"content": "Ho", "role": "user"}]).id


def test_a_rule_offers_what_it_declares() -> None:
    from darc.decide.registry import rules

    assert parameters_of(rules.get("auto")).keys() == {"caution"}
    assert parameters_of(rules.get("tau")).keys() == {"tau", "quantile", "objective"}
    with pytest.raises(Problem) as caught:
        FORMS.method({"rule": "cvar", "alpha": 1.5})
    assert caught.value.param == "darc.alpha"


def test_a_value_that_only_its_rule_can_judge_is_refused_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def picky(pools: darc.Pools, *, level=0.5):  # type: ignore[no-untyped-def]
        if level > 1:
            raise darc.InputError("level is over 1")
        return darc.largest(pools, level * pools.statistics.mean)

    monkeypatch.setitem(rules._items, "picky", Rule("picky", picky))
    assert FORMS.method({"rule": "picky", "level": 0.9}).spec.rule.parameters["level"] == 0.9
    for level, told in ((2, "level is over 1"), ("high", "not supported between")):
        with pytest.raises(Problem, match=told) as caught:
            FORMS.method({"rule": "picky", "level": level})
        assert (caught.value.status, caught.value.param) == (400, "darc")


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
        FORMS.select({"scores": scores})
    assert (caught.value.status, caught.value.param) == (400, place)
    assert caught.value.message.startswith(f"{place} should be ")
