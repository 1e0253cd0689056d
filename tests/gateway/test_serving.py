"""Keys, limits, leaving clients, stopping, logs of decisions."""

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer
from tests.gateway.running import QUESTION, Running, parts, running

from darc.evaluation.evaluate import evaluate
from darc.evaluation.reading import read_any
from darc.evaluation.study import Settings
from darc.gateway.audit import read_audit
from darc.web.keys import make_key

BODY: dict[str, Any] = {"model": "fake", "messages": QUESTION}


def post(gateway: Running, body: Any = None, path: str = "chat/completions", **given: Any) -> Any:
    return httpx.post(f"{gateway.url}/v1/{path}", json=body or BODY, timeout=20, **given)


def key(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def eventually(true: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_keys_are_needed_and_not_sent_on(openai_server: FakeServer, tmp_path: Path) -> None:
    token = make_key(tmp_path / "keys", "alice")
    with running(openai_server, api_keys=tmp_path / "keys") as gateway:
        for wrong in ({}, key("x"), {"Authorization": f"Basic {token}"}):
            answer = post(gateway, headers=wrong)
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == "invalid_api_key"
        assert httpx.get(f"{gateway.url}/metrics").status_code == 401
        assert httpx.get(f"{gateway.url}/v1/models").status_code == 401
        assert httpx.get(f"{gateway.url}/healthz").status_code == 200
        assert post(gateway, headers=key(token)).status_code == 200
        assert post(gateway, {**BODY, "temperature": 0}, headers=key(token)).status_code == 200
    assert all("authorization" not in each.headers for each in openai_server.received)


def test_rates_are_limited_by_key(openai_server: FakeServer, tmp_path: Path) -> None:
    few, more = (make_key(tmp_path / "keys", name, rate) for name, rate in (("a", 1), ("b", 60)))
    with running(openai_server, api_keys=tmp_path / "keys") as gateway:
        assert post(gateway, headers=key(few)).status_code == 200
        answer = post(gateway, headers=key(few))
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert [post(gateway, headers=key(more)).status_code for _ in range(3)] == [200] * 3


def test_large_bodies_are_refused(openai_server: FakeServer) -> None:
    with running(openai_server, max_body=500) as gateway:
        long = {**BODY, "messages": [{"role": "user", "content": "x" * 1000}]}
        assert post(gateway, long).status_code == 413

        def parts_of() -> Any:
            yield b'{"messages": "'
            yield b"x" * 1000

        chunked = httpx.post(f"{gateway.url}/v1/chat/completions", content=parts_of())
        assert chunked.status_code == 413
        assert post(gateway).status_code == 200


def test_full_queue_is_a_429(openai_server: FakeServer) -> None:
    openai_server.latency = 0.3
    with running(openai_server, active=1, queue=1) as gateway:

        async def main() -> list[httpx.Response]:
            async with httpx.AsyncClient(timeout=20) as ask:
                url = f"{gateway.url}/v1/chat/completions"
                return await asyncio.gather(*(ask.post(url, json=BODY) for _ in range(5)))

        found = asyncio.run(main())
    statuses = sorted(each.status_code for each in found)
    assert statuses == [200, 200, 429, 429, 429]
    full = next(each for each in found if each.status_code == 429)
    assert full.headers["retry-after"] == "1"
    assert full.json()["error"]["code"] == "queue_full"


@pytest.mark.parametrize("body", [{}, {"stream": True}, {"temperature": 0}, {"seed": 1}])
def test_leaving_cancels_what_was_asked(openai_server: FakeServer, body: dict[str, Any]) -> None:
    openai_server.latency = 1.0
    with running(openai_server, keep_alive=0.05) as gateway:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(
                f"{gateway.url}/v1/chat/completions",
                json={**BODY, **body, "stream": False},
                timeout=0.3,
            )
        eventually(lambda: gateway.gateway.gate.running == 0, 0.5)


def test_leaving_cancels_judges(openai_server: FakeServer) -> None:
    slow = threading.Event()

    def reply(body: Any, index: int) -> str:
        if body.get("temperature") == 0:
            slow.wait(3)
        return f"{index} words here."

    openai_server.reply = reply
    judged = parts(scorers=(f"judge:fake@{openai_server.url},key_env=,concurrency=1",), n_aug=0)
    with running(openai_server, parts=judged) as gateway:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{gateway.url}/v1/chat/completions", json=BODY, timeout=0.5)
        eventually(lambda: gateway.gateway.gate.running == 0, 1)
        asked = len(openai_server.received)
        slow.set()
        time.sleep(0.2)
        assert len(openai_server.received) == asked == 2


def test_stopping_finishes_what_is_in_flight(openai_server: FakeServer) -> None:
    openai_server.latency = 0.4
    one = Running(_settings(openai_server))
    found: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: found.append(post(one)))
    asking.start()
    eventually(lambda: openai_server.busy == 1)
    one.close()
    asking.join()
    assert found[0].status_code == 200
    with pytest.raises(httpx.ConnectError):
        post(one)


def _settings(server: FakeServer) -> Any:
    from tests.gateway.running import settings_for

    return settings_for(server)


def test_decisions_are_written_down(openai_server: FakeServer, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with running(openai_server, audit=path, audit_bytes=3000) as gateway:
        answers = [post(gateway, headers={"x-request-id": f"r{i}"}) for i in range(3)]
    rows = read_audit(path)
    assert [row["request_id"] for row in rows] == ["r0", "r1", "r2"]
    for row, answer in zip(rows, answers, strict=True):
        assert row["answer"] == answer.json()["choices"][0]["message"]["content"]
        assert {"prompt_id", "rule", "parameters", "index", "flags", "candidates"} <= row.keys()
        assert row["candidates"][row["index"]]["index"] == row["index"]
    assert len({row["prompt_id"] for row in rows}) == 1


def test_decisions_can_be_evaluated(openai_server: FakeServer, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with running(openai_server, audit=path) as gateway:
        for i in range(4):
            darc = {"full": True, "k": 3, "n_aug": 3}
            messages = [{"role": "user", "content": f"Question {i}?"}]
            body = {**BODY, "messages": messages, "darc": darc}
            assert post(gateway, body).status_code == 200
    source = read_any(path)
    assert source.shape[0] == 4
    assert source.shape[2:] == (3, 4)
    assert evaluate([source], Settings(rules=("entropic",), repeats=2), ablations=False).frames


def test_answers_have_ids_and_safe_headers(gateway: Running) -> None:
    for path in ("/", "/healthz", "/v1/nothing-here"):
        answer = httpx.get(gateway.url + path, headers={"Origin": "http://evil.example"})
        assert answer.headers["x-request-id"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control") for name in answer.headers)
    own = httpx.get(f"{gateway.url}/healthz", headers={"x-request-id": "mine-1"})
    assert own.headers["x-request-id"] == "mine-1"
    evil = httpx.get(f"{gateway.url}/healthz", headers={"x-request-id": "a b<script>"})
    assert evil.headers["x-request-id"] != "a b<script>"
    assert httpx.options(f"{gateway.url}/v1/chat/completions").status_code == 405
    assert httpx.get(f"{gateway.url}/../../etc/passwd").status_code == 404


def test_metrics_count(gateway: Running) -> None:
    for _ in range(2):
        assert post(gateway).status_code == 200
    text = httpx.get(f"{gateway.url}/metrics").text
    assert 'darc_requests_total{path="/v1/chat/completions",status="200"} 2' in text
    assert "darc_candidates_total 8" in text
    assert 'darc_calls_total{stage="candidates"} 2' in text
    assert "darc_chat_seconds_count 2" in text
    assert "darc_requests_running 0" in text
    for line in text.splitlines():
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2


def test_readiness_follows_the_backend(gateway: Running) -> None:
    eventually(lambda: httpx.get(f"{gateway.url}/readyz").status_code == 200)


def test_steps_are_told_to_the_playground(gateway: Running) -> None:
    answer = post(gateway, {**BODY, "darc": {"k": 3}}, "playground")
    events = [part.split("\n") for part in answer.text.strip().split("\n\n")]
    names = [lines[0].removeprefix("event: ") for lines in events]
    assert names == ["start", "candidate", "candidate", "candidate", "decision"]
    data = [json.loads(lines[1].removeprefix("data: ")) for lines in events]
    told = data[-1]
    assert {each["index"]: each["text"] for each in data[1:4]} == {
        each["index"]: each["text"] for each in told["texts"]
    }
    assert [len(told["scores"]), len(told["scores"][0])] == [1, 3]
    for each, scores in zip(told["texts"], told["scores"][0], strict=True):
        assert sum(score is not None for score in scores) == 1 + len(each["variants"])
    assert told["scorers"][0].keys() == {"name", "location", "scale", "bounds", "active"}


def test_playground_tells_errors(gateway: Running) -> None:
    assert "event: error" in post(gateway, {"model": "fake", "messages": []}, "playground").text


def test_own_scores_and_candidates_are_chosen_among(gateway: Running) -> None:
    scores = post(gateway, {"scores": [[9, 1, 6], [5, 5, 6]]}, "select").json()
    assert scores["index"] == 1
    hedged = {"scores": [[[9, None, 6], [5, 5, 6]]] * 2, "darc": {"rule": "mean"}}
    assert post(gateway, hedged, "select").json()["index"] == 0
    texts = ["Too short", "The moon pulls the water; the earth turns below it.", "x"]
    own = {"messages": QUESTION, "candidates": texts, "n": 2, "darc": {"metadata": "full"}}
    found = post(gateway, own, "select").json()
    assert found["answer"] == texts[found["index"]]
    assert len(found["order"]) == 2
    assert [each["text"] for each in found["texts"]] == texts


@pytest.mark.parametrize(
    "body",
    [{"n": 1}, {"scores": []}, {"scores": [["x"]]}, {"scores": [[1], [1, 2]]}, {"scores": [[]]},
     {"candidates": ["a"]}, {"candidates": [], "prompt": "x"}, {"scores": [[1]], "candidates": []},
     {"scores": [[None]]}, {"scores": 3}, {"scores": [[1e999]]},
     {"candidates": ["a"], "prompt": "x", "n": 0}, {"scores": [[1, 2]], "darc": {"rule": "mbr"}}],
)  # fmt: skip
def test_broken_selections_are_a_400(gateway: Running, body: Any) -> None:
    answer = post(gateway, body, "select") if body != {"scores": [[1e999]]} else None
    if answer is not None:
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["message"]


def test_samples_without_the_original(openai_server: FakeServer) -> None:
    texts = [
        "It's often said that the tide can't be seen, however you look at it from here.",
        "What a stupid question! Shut up, you idiot, I'm not going to explain it, for example.",
        "There are two of them since the sea is pulled on both sides, and that's all of it.",
    ]
    own = {"messages": QUESTION, "candidates": texts}
    with running(openai_server, parts=parts(n_aug=6)) as gateway:
        answers = [
            post(
                gateway,
                {
                    **own,
                    "darc": {"rule": "mean", "metadata": "full", "include_original": False, **more},
                },
                path="select",
            ).json()
            for more in ({"full": True}, {"wave": 1}, {"n_aug": 1})
        ]
        silent = {**own, "candidates": ["42", "43"], "darc": {"include_original": False}}
        alone = post(gateway, silent, path="select").json()
        refused = post(
            gateway, {**own, "darc": {"include_original": False, "n_aug": 0}}, path="select"
        )
    for data in answers:
        assert data["include_original"] is False
        assert {each[0] for scorer in data["scores"] for each in scorer} == {None}
        assert any(x is not None for scorer in data["scores"] for each in scorer for x in each)
    assert answers[0]["index"] == answers[1]["index"]
    assert answers[1]["scored"] < answers[0]["scored"]
    assert "no_rewrites" in alone["flags"]
    assert refused.status_code == 400
