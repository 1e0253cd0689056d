from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.scoring import logit

from darc.errors import DarcError, InputError
from darc.models.remote.errors import Malformed
from darc.parts.scorers import HttpScorer, Scorer
from darc.parts.scorers.base import Pair
from darc.parts.scorers.http_forms import FORMS, form_name, read_rows, select_class
from darc.registry import scorers
from darc.types import Message, Prompt

SEA = Prompt("sea", (Message("user", "Write of the sea."),))
EGG = Prompt("egg", (Message("system", "Be brief."), Message("user", "Boil an egg?")))
PAIRS: list[Pair] = [(SEA, "Blue."), (EGG, "Seven minutes."), (SEA, "It is blue."), (EGG, "No.")]


def rendered(pair: Pair) -> str:
    turns = [*pair[0].messages, Message("assistant", pair[1])]
    return "".join(f"<{turn.role}>{turn.content}" for turn in turns)


def joined(prompt: Prompt) -> str:
    return prompt.question if prompt is SEA else "System: Be brief.\n\nUser: Boil an egg?"


EXPECTED: dict[str, list[float]] = {
    "/classify": [logit(rendered(pair), "0") for pair in PAIRS],
    "/pooling": [logit(rendered(pair), "0") for pair in PAIRS],
    "/score": [logit(joined(prompt), answer) for prompt, answer in PAIRS],
    "/v1/score": [logit(joined(prompt), answer) for prompt, answer in PAIRS],
    "/predict": [logit(joined(prompt), answer, "0") for prompt, answer in PAIRS],
    "/plain": [logit(*(m.content for m in p.messages), answer) for p, answer in PAIRS],
}


@pytest.mark.parametrize("path", EXPECTED)
def test_every_form_gives_raw_scores(openai_server: FakeServer, path: str) -> None:
    with HttpScorer(f"{openai_server.url}{path}", batch=3, model="rm") as scorer:
        judged: Scorer = scorer
        assert judged.score(PAIRS).tolist() == EXPECTED[path]
        assert judged.score([]).shape == (0,)
    calls = 4 if path in ("/classify", "/pooling") else 2
    assert len(openai_server.received) == calls
    assert {one.path for one in openai_server.received} == {path}
    if path != "/predict":
        assert {body["model"] for body in openai_server.bodies} == {"rm"}


def test_plain_contract(openai_server: FakeServer) -> None:
    with HttpScorer(f"{openai_server.url}/plain") as scorer:
        scorer.score(PAIRS[1:2])
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Boil an egg?"},
    ]
    pair = {"prompt_id": "egg", "messages": turns, "response": "Seven minutes."}
    assert openai_server.bodies == [{"pairs": [pair]}]


@pytest.mark.parametrize("path", ["/classify", "/pooling"])
def test_probabilities_are_refused(openai_server: FakeServer, path: str) -> None:
    openai_server.classes = 2
    openai_server.raw = False
    with (
        HttpScorer(f"{openai_server.url}{path}", label=1) as scorer,
        pytest.raises(InputError, match="gives probabilities that sum to 1"),
    ):
        scorer.score(PAIRS)


@pytest.mark.parametrize("path", ["/classify", "/pooling", "/predict"])
def test_class_is_named_by_label(openai_server: FakeServer, path: str) -> None:
    openai_server.classes = 12
    with HttpScorer(f"{openai_server.url}{path}") as scorer:
        with pytest.raises(InputError, match=r"12 numbers.*label"):
            scorer.score(PAIRS)
        scorer.label = 10
        texts = [rendered(p) for p in PAIRS] if path != "/predict" else []
        expected = [logit(text, "10") for text in texts] or [
            logit(joined(prompt), answer, "10") for prompt, answer in PAIRS
        ]
        assert scorer.score(PAIRS).tolist() == expected
        scorer.label = 12
        with pytest.raises(InputError, match="has no class 12"):
            scorer.score(PAIRS)


def test_faults_are_tried_again(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("malformed")]
    with HttpScorer(f"{openai_server.url}/score") as scorer:
        assert scorer.score(PAIRS).tolist() == EXPECTED["/score"]
    assert len(openai_server.received) == 2


def test_errors_of_the_server_are_told(openai_server: FakeServer) -> None:
    with (
        HttpScorer(f"{openai_server.url}/nowhere") as scorer,
        pytest.raises(DarcError, match="/nowhere answered 404: no route /nowhere"),
    ):
        scorer.score(PAIRS)


@pytest.mark.parametrize(
    ("spec", "url", "form"),
    [
        ("http://h:1/classify", "http://h:1/classify", "vllm-classify"),
        ("https://h/v1/score,batch=8", "https://h/v1/score", "vllm-score"),
        ("http:http://h/predict", "http://h/predict", "tei"),
        ("http:https://h/pooling/", "https://h/pooling/", "vllm-pooling"),
        ("http://h/reward?key=a,b", "http://h/reward?key=a,b", "plain"),
        ("http://h/score,form=plain", "http://h/score", "plain"),
    ],
)
def test_as_users_write_it(spec: str, url: str, form: str) -> None:
    http_scorer = scorers.make(spec)
    assert (http_scorer.url, http_scorer.form) == (url, form)
    assert http_scorer.version.startswith(f"{url} {form} ")


def test_options() -> None:
    http_scorer = scorers.make("http://h/score,model=rm,label=0,location=1.5,scale=2,low=-5,high=5")
    assert (http_scorer.location, http_scorer.scale, http_scorer.bounds) == (1.5, 2.0, (-5.0, 5.0))
    assert http_scorer.version.startswith("rm http://h/score vllm-score 0 ")
    assert http_scorer.name == "http:h/score"
    assert scorers.make("http://h/score,name=mine").name == "mine"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("http", "write http:URL"),
        ("http:h/score", "is not the URL of a server"),
        ("http://h/x,form=vllm-scores", "did you mean 'vllm-score'"),
        ("http://h/rerank", "use /score"),
        ("http://h/x,batch=0", "batch is 0"),
        ("http://h/x,scale=-1", "scale"),
        ("http://a:b@h/x", "key_env"),
    ],
)
def test_what_cannot_be_made(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scorers.make(spec)


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("plain", {}),
        ("plain", {"scores": [1.0]}),
        ("plain", {"scores": [1.0, None]}),
        ("plain", {"scores": [1.0, float("nan")]}),
        ("tei", {"error": "x"}),
        ("tei", [[], [{"score": 1.0, "label": "a"}]]),
        ("vllm-score", {"data": [{"score": 1.0}, {"score": 2.0}]}),
        ("vllm-pooling", {"data": [{"index": 0, "data": []}, {"index": 1, "data": [[]]}]}),
    ],
)
def test_malformed_answers(form: str, answer: Any) -> None:
    with pytest.raises(Malformed):
        read_rows(FORMS[form], answer, 2)


def test_a_score_that_looks_like_a_probability_is_let_through() -> None:
    assert select_class([[1.0], [0.5]], -1, "u") == [1.0, 0.5]
    assert select_class([[0.5, 0.5], [2.0, -1.0]], 0, "u") == [0.5, 2.0]
    assert select_class([], -1, "u") == []
    assert form_name("/scores") == "plain"
