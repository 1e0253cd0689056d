"""The official client, sync and async, streaming and not."""

import asyncio
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, Running, running

openai = pytest.importorskip("openai")

SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "a", "schema": {"type": "object", "properties": {}}},
}
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]


def client(gateway: Running, **given: Any) -> Any:
    return openai.OpenAI(
        base_url=f"{gateway.url}/v1", api_key="none", **{"max_retries": 0, **given}
    )


def test_answer_is_one_of_the_candidates(gateway: Running, openai_server: FakeServer) -> None:
    with client(gateway) as ask:
        completion = ask.chat.completions.create(
            model="darc-epsilon/fake",
            messages=QUESTION,
            temperature=0.7,
            top_p=0.9,
            stop=["###"],
            max_completion_tokens=50,
            presence_penalty=0.1,
            extra_body={"darc": {"k": 3, "metadata": "full"}, "vendor_field": 7},
        )
    (sent,) = openai_server.bodies
    assert sent == {
        "model": "fake", "messages": QUESTION, "temperature": 0.7, "top_p": 0.9, "stop": ["###"],
        "max_completion_tokens": 50, "presence_penalty": 0.1, "vendor_field": 7, "n": 3,
        "seed": sent["seed"],
    }  # fmt: skip
    assert "best_of" not in sent
    result = completion.darc
    texts = [row["text"] for row in result["texts"]]
    assert len(texts) == len(result["candidates"]) == 3
    assert completion.choices[0].message.content == texts[result["index"]]
    assert completion.usage.completion_tokens == result["spent"]["candidates"]["completion_tokens"]
    assert completion.usage.completion_tokens > sum(len(text.split()) for text in texts) / 2
    assert result["rule"] == "epsilon"
    assert result["explanation"].startswith(f"candidate {result['index']}")
    assert {"generate", "rewrite", "score", "decide", "total"} <= result["milliseconds"].keys()
    shape = [len(result["scores"]), len(result["scores"][0]), len(result["scores"][0][0])]
    assert shape == [1, 3, 3]


def test_stream_says_the_same(gateway: Running) -> None:
    body: dict[str, Any] = {"model": "fake", "messages": QUESTION, "seed": 3}
    with client(gateway) as ask:
        whole = ask.chat.completions.create(**body)
        chunks = list(
            ask.chat.completions.create(**body, stream=True, stream_options={"include_usage": True})
        )
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert len(chunks) > 4


def test_async_client_asks_many_at_once(gateway: Running) -> None:
    async def main() -> None:
        async with openai.AsyncOpenAI(
            base_url=f"{gateway.url}/v1", api_key="none", max_retries=0
        ) as ask:

            async def one(seed: int) -> Any:
                return await ask.chat.completions.create(model="fake", messages=QUESTION, seed=seed)

            found = await asyncio.gather(*(one(seed) for seed in (1, 2, 1, 2)))
            texts = [each.choices[0].message.content for each in found]
            assert texts[:2] == texts[2:]
            stream = await ask.chat.completions.create(
                model="fake", messages=QUESTION, seed=1, stream=True
            )
            said = ""
            async for chunk in stream:
                said += chunk.choices[0].delta.content or ""
            assert said == texts[0]

    asyncio.run(main())


def test_n_best_in_the_order_of_the_rule(gateway: Running) -> None:
    with client(gateway) as ask:
        completion = ask.chat.completions.create(
            model="darc-mean/fake", messages=QUESTION, n=3, seed=5,
            extra_body={"darc": {"k": 5, "n_aug": 0, "metadata": "full", "full": True}},
        )  # fmt: skip
    assert [choice.index for choice in completion.choices] == [0, 1, 2]
    means = {row["index"]: row["mean"] for row in completion.darc["candidates"]}
    best = sorted(means, key=lambda k: (-means[k], k))[:3]
    assert completion.darc["order"] == best
    texts = {row["index"]: row["text"] for row in completion.darc["texts"]}
    assert [choice.message.content for choice in completion.choices] == [texts[k] for k in best]


def test_candidate_i_has_seed_plus_i(gateway: Running, openai_server: FakeServer) -> None:
    with client(gateway) as ask:
        completion = ask.chat.completions.create(
            model="fake", messages=QUESTION, seed=40, extra_body={"darc": {"metadata": True}}
        )
    assert sorted(body["seed"] for body in openai_server.bodies) == [40, 41, 42, 43]
    assert all("n" not in body for body in openai_server.bodies)
    assert [row["seed"] for row in completion.darc["candidates"]] == [40, 41, 42, 43]


def test_backend_without_n_is_asked_in_parallel(
    gateway: Running, openai_server: FakeServer
) -> None:
    openai_server.refuses = {"n"}
    with client(gateway) as ask:
        for _ in range(2):
            ask.chat.completions.create(model="fake", messages=QUESTION)
    assert ["n" in body for body in openai_server.bodies] == [True] + [False] * 8
    assert len({body["seed"] for body in openai_server.bodies[1:5]}) == 4


def test_backend_that_ignores_n_is_found_out(gateway: Running, openai_server: FakeServer) -> None:
    openai_server.ignores = {"n"}
    with client(gateway) as ask:
        completion = ask.chat.completions.create(
            model="fake", messages=QUESTION, extra_body={"darc": {"metadata": True}}
        )
        assert completion.darc["k"] == 4
        ask.chat.completions.create(model="fake", messages=QUESTION)
    assert ["n" in body for body in openai_server.bodies] == [True] + [False] * 7


def test_tool_calls_are_not_rewritten(gateway: Running, openai_server: FakeServer) -> None:
    with client(gateway) as ask:
        raw = ask.chat.completions.with_raw_response.create(
            model="fake", messages=QUESTION, tools=TOOLS, tool_choice="auto",
            extra_body={"darc": {"metadata": "full"}},
        )  # fmt: skip
        completion = raw.parse()
        streamed = list(
            ask.chat.completions.create(
                model="fake", messages=QUESTION, tools=TOOLS, stream=True, seed=1
            )
        )
    assert openai_server.bodies[0]["tools"] == TOOLS
    assert "not_rewritten" in raw.headers["x-darc-flags"].split(",")
    (call,) = completion.choices[0].message.tool_calls
    assert call.function.name == "weather"
    assert completion.choices[0].finish_reason == "tool_calls"
    assert completion.darc["n_aug"] == 2
    assert all(not row["variants"] for row in completion.darc["texts"])
    assert completion.darc["scored"] <= 4
    parts = [c.choices[0].delta.tool_calls for c in streamed if c.choices[0].delta.tool_calls]
    assert parts[0][0].function.name == "weather"
    assert streamed[-1].choices[0].finish_reason == "tool_calls"


def test_prescribed_form_is_not_rewritten(gateway: Running, openai_server: FakeServer) -> None:
    with client(gateway) as ask:
        completion = ask.chat.completions.create(
            model="fake", messages=QUESTION, response_format=SCHEMA,
            extra_body={"darc": {"metadata": "full"}},
        )  # fmt: skip
    assert openai_server.bodies[0]["response_format"] == SCHEMA
    assert completion.choices[0].message.content.startswith('{"answer"')
    assert "not_rewritten" in completion.darc["flags"]
    assert completion.darc["scored"] <= 4


def test_logprobs_come_back(gateway: Running) -> None:
    with client(gateway) as ask:
        completion = ask.chat.completions.create(
            model="fake", messages=QUESTION, logprobs=True, top_logprobs=2
        )
    content = completion.choices[0].logprobs.content
    assert "".join(entry.token for entry in content) == completion.choices[0].message.content
    assert len(content[0].top_logprobs) == 2


def test_rule_that_needs_log_likelihoods_hides_them(
    gateway: Running, openai_server: FakeServer
) -> None:
    with client(gateway) as ask:
        completion = ask.chat.completions.create(model="darc-rbon/fake", messages=QUESTION)
    assert openai_server.bodies[0]["logprobs"] is True
    assert completion.choices[0].logprobs is None


def test_content_parts_and_turns_go_on_as_they_are(
    gateway: Running, openai_server: FakeServer
) -> None:
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"},
                                     {"type": "image_url", "image_url": {"url": "data:,x"}}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "t", "content": "7"},
    ]  # fmt: skip
    with client(gateway) as ask:
        ask.chat.completions.create(model="fake", messages=messages)
    assert openai_server.bodies[0]["messages"] == messages


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (404, "NotFoundError"),
     (422, "UnprocessableEntityError"), (429, "RateLimitError"), (500, "InternalServerError")],
)  # fmt: skip
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("k", [1, 4])
def test_status_of_the_backend_is_kept(
    gateway: Running, openai_server: FakeServer, status: int, kind: str, stream: bool, k: int
) -> None:
    openai_server.faults = [Fault(status=status, message="it said no")] * 20
    with client(gateway) as ask, pytest.raises(getattr(openai, kind)) as caught:
        ask.chat.completions.create(
            model="fake", messages=QUESTION, stream=stream, extra_body={"darc": {"k": k}}
        )
    assert caught.value.status_code == status
    assert "it said no" in caught.value.message
    assert caught.value.body["type"] == "invalid_request_error"


def test_late_error_comes_inside_the_stream(openai_server: FakeServer) -> None:
    openai_server.latency = 0.3
    openai_server.faults = [Fault(status=500, message="it broke")] * 20
    with (
        running(openai_server, keep_alive=0.05) as gateway,
        client(gateway) as ask,
        pytest.raises(openai.APIError, match="it broke"),
    ):
        list(ask.chat.completions.create(model="fake", messages=QUESTION, stream=True))


def test_late_flags_come_inside_the_stream(openai_server: FakeServer) -> None:
    openai_server.latency = 0.3
    with running(openai_server, keep_alive=0.05) as gateway, client(gateway) as ask:
        chunks = list(
            ask.chat.completions.create(
                model="fake", messages=QUESTION, stream=True, response_format=SCHEMA
            )
        )
    assert "not_rewritten" in chunks[-1].darc["flags"]


def test_models_state_the_method(gateway: Running) -> None:
    with client(gateway) as ask:
        found = {model.id: model for model in ask.models.list()}
    assert set(found) == {"fake", "darc-auto/fake"}
    assert found["fake"].darc == {"rule": "auto", "k": 4, "n_aug": 2}


def test_other_paths_pass_through(gateway: Running, openai_server: FakeServer) -> None:
    with client(gateway) as ask:
        completion = ask.embeddings.with_raw_response.create(
            model="fake", input="x", encoding_format="float"
        )
    assert completion.http_response.json()["asked"]["input"] == "x"
    assert openai_server.received[0].path == "/v1/embeddings"
