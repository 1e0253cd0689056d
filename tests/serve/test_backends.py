"""The gateway on the model in this process."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serve.running import Running, parts

from darc.models.embedded import EmbeddedModel
from darc.serve.app import make_gateway
from darc.serve.embedded_backend import EmbeddedBackend
from darc.serve.settings import ServeSettings
from darc.web.problems import Problem

QUESTION = [{"role": "user", "content": "Name one colour."}]


class Kept(EmbeddedBackend):
    """Leaves the model, which other tests use, open."""

    async def aclose(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def gateway(model: EmbeddedModel) -> Any:
    settings = ServeSettings(k=2, parts=parts(n_aug=1), keep_alive=30.0, workers=0)
    one = Running(settings, make_gateway(settings, Kept(model)))
    yield one
    one.close()


def post(gateway: Running, **body: Any) -> httpx.Response:
    sent = {"model": "embedded", "messages": QUESTION, "max_tokens": 12, **body}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=sent, timeout=60)


def test_answers_are_chosen(gateway: Running) -> None:
    answer = post(gateway, seed=3, logprobs=True, darc={"metadata": "full"}).json()
    assert answer["choices"][0]["message"]["content"]
    assert [row["seed"] for row in answer["darc"]["candidates"]] == [3, 4]
    assert answer["usage"]["completion_tokens"] == sum(
        row["tokens"] for row in answer["darc"]["candidates"]
    )
    assert answer["choices"][0]["logprobs"]["content"]
    again = post(gateway, seed=3).json()
    assert again["choices"][0]["message"] == answer["choices"][0]["message"]


def test_one_sample_streams(gateway: Running) -> None:
    whole = post(gateway, temperature=0, max_tokens=6).json()
    assert whole["choices"][0]["message"]["content"]
    streamed = post(gateway, temperature=0, max_tokens=6, stream=True).text
    assert streamed.rstrip().endswith("data: [DONE]")


def test_what_it_cannot_honour_is_refused(gateway: Running) -> None:
    assert post(gateway, service_tier="auto", max_tokens=2).status_code == 200
    assert post(gateway, audio={"voice": "x"}).status_code == 400
    image = [{"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/a.png"}}]
    answer = post(gateway, messages=[{"role": "user", "content": image}])
    assert answer.status_code == 400
    assert "parts other than text" in answer.json()["error"]["message"]
    assert httpx.post(f"{gateway.url}/v1/embeddings", json={}).status_code == 404


def test_fields_are_checked_without_a_model(tmp_path: Path) -> None:
    backend = EmbeddedBackend(EmbeddedModel(tmp_path / "none.gguf"), max_tokens=7)
    assert backend.model_fields({"messages": QUESTION})["max_tokens"] == 7
    assert (
        backend.model_fields({"messages": QUESTION, "max_completion_tokens": 3})["max_tokens"] == 3
    )
    with pytest.raises(Problem, match="best"):
        backend.model_fields({"messages": QUESTION, "best": 1})
