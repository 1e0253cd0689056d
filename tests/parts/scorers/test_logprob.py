import math
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.running import parts, running

from darc.engine.engine import Engine
from darc.errors import InputError
from darc.models.remote.protocol import self_certainty
from darc.parts.generators.base import SamplingParameters


def entry(*log_probabilities: float) -> dict[str, Any]:
    top = [{"token": str(i), "logprob": value} for i, value in enumerate(log_probabilities)]
    return {"token": "0", "logprob": log_probabilities[0], "top_logprobs": top}


def test_equally_likely_tokens_have_no_certainty() -> None:
    half = math.log(0.5)
    assert self_certainty([entry(half, half)]) == pytest.approx(0.0)
    sure = [entry(math.log(0.98), math.log(0.02))]
    assert self_certainty(sure) == pytest.approx(-math.log(2) - math.log(0.98 * 0.02) / 2)
    assert self_certainty([]) is None
    assert self_certainty([{"token": "a", "logprob": -1.0}]) is None


def reply(body: dict[str, Any], index: int) -> str:
    return f"Answer {(body.get('seed') or 0) + index}."


class Certain(FakeServer):
    """Is most certain of the third answer."""

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        status, answer = super().chat(body)
        for choice in answer["choices"]:
            probability = 0.99 if choice["index"] == 2 else 0.6
            rest = math.log((1 - probability) / 2)
            choice["logprobs"] = {"content": [entry(math.log(probability), rest, rest)]}
        return status, answer


def test_the_answer_that_the_model_is_most_certain_of_is_chosen() -> None:
    with Certain() as server:
        server.reply = reply
        model = f"openai:fake@{server.url},key_env="
        sampling = SamplingParameters(k=4)
        with Engine(model, scorers=["logprob"], n_aug=0, sampling=sampling) as engine:
            outcome = engine.ask("Why?")
        assert len(server.received) == 1
        assert server.bodies[0]["top_logprobs"] == 20
    assert outcome.index == 2


def test_the_gateway_asks_for_log_probabilities_and_keeps_them_to_itself() -> None:
    with Certain() as server:
        server.reply = reply
        with running(server, parts=parts(scorers=("logprob",), n_aug=0), k=4) as gateway:
            body = {"model": "fake", "messages": [{"role": "user", "content": "Why?"}]}
            answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body).json()
        assert len(server.received) == 1
    seed = server.bodies[0].get("seed") or 0
    assert answer["choices"][0]["message"]["content"] == f"Answer {seed + 2}."
    assert not answer["choices"][0].get("logprobs")


def test_what_has_no_log_probabilities_is_refused() -> None:
    with Engine(scorers=["logprob"], n_aug=0) as engine, pytest.raises(InputError, match="logprob"):
        engine.choose("Why?", ["Because.", "Therefore."])
    with pytest.raises(InputError, match="n-aug 0"):
        Engine(scorers=["logprob"])
