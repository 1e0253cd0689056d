"""What happens when something fails: never a downgrade without a flag."""

import time
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve import scorers as slow_scorers
from tests.serve.running import QUESTION, Running, parts, running

from darc.models.remote.retry import RetryPolicy
from darc.serve.settings import ServeSettings

HERE = "python:tests.serve.scorers:"


def ask(gateway: Running, darc: dict[str, Any] | None = None, **body: Any) -> httpx.Response:
    sent = {"model": "fake", "messages": QUESTION, "darc": {"metadata": "full", **(darc or {})}}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json={**sent, **body}, timeout=20)


def flags(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    result = answer.json()["darc"]["flags"]
    assert answer.headers.get("x-darc-flags", "") == ",".join(result)
    return list(result)


def test_broken_scorer_is_left_out_and_told(openai_server: FakeServer) -> None:
    both = parts(scorers=(f"{HERE}lengths,name=good", f"{HERE}broken,name=bad"))
    with running(openai_server, parts=both) as gateway:
        answer = ask(gateway)
        assert "scorer_failed:bad" in flags(answer)
        result = answer.json()["darc"]
        assert result["rule"] == "auto"
        assert [row["active"] for row in result["scorers"]] == [True, False]
        assert "scorer bad failed" in result["explanation"]
        closed = ask(gateway, {"policy": "closed"})
    assert closed.status_code == 503
    assert closed.json()["error"]["code"] == "part_failed"
    assert "bad" in closed.json()["error"]["message"]


@pytest.mark.parametrize("scorer", ["broken", "nonsense"])
def test_without_any_score_the_first_candidate_is_taken(
    openai_server: FakeServer, scorer: str
) -> None:
    with running(openai_server, parts=parts(scorers=(HERE + scorer,))) as gateway:
        answer = ask(gateway)
        assert "first_candidate" in flags(answer)
        body = answer.json()
        assert body["darc"]["index"] == 0
        assert body["choices"][0]["message"]["content"] == body["darc"]["texts"][0]["text"]
        assert ask(gateway, {"policy": "closed"}).status_code == 503


def test_what_was_scored_before_a_failure_decides(openai_server: FakeServer) -> None:
    wave = parts(scorers=(f"{HERE}worsening",), n_aug=4)
    with running(openai_server, parts=wave, wave=4) as gateway:
        gateway.ready()
        slow_scorers.CALLS.clear()
        answer = ask(gateway)
    assert {"best_of_k"} <= set(flags(answer))
    result = answer.json()["darc"]
    assert result["rule"] == "mean"
    means = [row.get("mean") or -1 for row in result["candidates"]]
    assert result["index"] == means.index(max(means))


@pytest.mark.slow
def test_broken_rewriter_leaves_the_originals(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: f"Answer number {index} of this fake server."
    llm = parts(rewriter="llm:other@http://127.0.0.1:9,timeout=1", scorers=(f"{HERE}lengths",))
    with running(openai_server, parts=llm) as gateway:
        answer = ask(gateway, {"budget": {"milliseconds": 20_000}})
        assert answer.status_code == 200
    # Refused connections are retried until the budget or the client's patience ends.
    assert set(flags(answer)) & {"rewriter_failed", "budget_milliseconds"}


def test_fewer_candidates_are_flagged(openai_server: FakeServer) -> None:
    openai_server.refuses = {"n"}
    with running(openai_server, attempts=1) as gateway:
        ask(gateway)
        openai_server.faults = [Fault(status=500)]
        answer = ask(gateway)
        assert "fewer_candidates" in flags(answer)
        assert answer.json()["darc"]["k"] == 3
        openai_server.faults = [Fault(status=500)]
        assert ask(gateway, {"policy": "closed"}).status_code == 500


@pytest.mark.parametrize("kind", ["reset", "malformed", "empty", "no-choices", "status"])
def test_passing_fault_is_tried_again(
    gateway: Running, openai_server: FakeServer, kind: str
) -> None:
    openai_server.faults = [Fault(kind)]
    assert flags(ask(gateway, {"n_aug": 0, "rule": "mean"})) == []
    assert len(openai_server.received) == 2


@pytest.mark.parametrize(
    ("kind", "status"), [("reset", 502), ("malformed", 502), ("no-choices", 502), ("hang", 504)]
)
@pytest.mark.parametrize("seeded", [False, True])
def test_lasting_fault_is_an_error_and_no_content(
    openai_server: FakeServer, kind: str, status: int, seeded: bool
) -> None:
    openai_server.faults = [Fault(kind)] * 40
    with running(openai_server, backend_timeout=0.3) as gateway:
        more: dict[str, Any] = {"seed": 1} if seeded else {}
        answer = ask(gateway, {}, **more)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert openai_server.url not in answer.text


def test_retry_after_is_respected(gateway: Running, openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=429, headers={"Retry-After": "1"})]
    begun = time.monotonic()
    assert flags(ask(gateway, {"n_aug": 0, "rule": "mean"})) == []
    assert time.monotonic() - begun >= 1


def test_retry_after_is_passed_on(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=429, headers={"Retry-After": "7"})] * 9
    with running(openai_server, attempts=1) as gateway:
        answer = ask(gateway)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")


def test_breaker_answers_at_once(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=500)] * 100
    with running(openai_server, attempts=1) as gateway:
        statuses = [ask(gateway).status_code for _ in range(22)]
        assert statuses[:20] == [500] * 20
        answer = ask(gateway)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        passed = ask(gateway, {"k": 1, "metadata": False})
        assert passed.status_code == 503
        assert httpx.get(f"{gateway.url}/readyz").status_code == 503
    assert len(openai_server.received) == 20


def test_budget_of_calls(openai_server: FakeServer) -> None:
    with running(openai_server, parts=parts(scorers=(f"{HERE}lengths",))) as gateway:
        answer = ask(gateway, {"budget": {"calls": 3}, "wave": 2})
        assert "budget_calls" in flags(answer)
        assert answer.json()["darc"]["scored"] <= 3
        none = ask(gateway, {"budget": {"calls": 0}})
        assert {"budget_calls", "first_candidate"} <= set(flags(none))
        plenty = ask(gateway, {"budget": {"calls": 1000, "milliseconds": 10_000}})
        assert "budget_calls" not in flags(plenty)


def test_budget_of_time_while_scoring(openai_server: FakeServer) -> None:
    slowly = parts(scorers=(f"{HERE}slow",), n_aug=0)
    with running(openai_server, parts=slowly) as gateway:
        gateway.ready()
        begun = time.monotonic()
        answer = ask(gateway, {"budget": {"milliseconds": 600}})
        assert time.monotonic() - begun < 1.4
    assert {"budget_milliseconds", "first_candidate"} <= set(flags(answer))


def test_budget_of_time_takes_the_scorers_that_were_quick(openai_server: FakeServer) -> None:
    mixed = parts(scorers=(f"{HERE}lengths,name=quick", f"{HERE}slow,name=slow"), n_aug=0)
    with running(openai_server, parts=mixed) as gateway:
        gateway.ready()
        answer = ask(gateway, {"budget": {"milliseconds": 600}})
    assert {"budget_milliseconds", "fewer_scorers"} <= set(flags(answer))
    assert answer.json()["darc"]["rule"] == "auto"


def test_budget_of_time_while_writing(openai_server: FakeServer) -> None:
    openai_server.latency = 0.5
    with running(openai_server) as gateway:
        for extra in ({}, {"seed": 1}):
            answer = ask(gateway, {"budget": {"milliseconds": 100}}, **extra)
            assert answer.status_code == 422
            assert answer.json()["error"]["code"] == "budget"


def test_judge_and_rewriter_calls_are_itemised(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: (
        "7" if "grade" in str(body["messages"]).lower() else f"It is warm on day {index}."
    )
    judged = parts(scorers=(f"judge:fake@{openai_server.url},key_env=",), n_aug=0)
    with running(openai_server, parts=judged) as gateway:
        answer = ask(gateway)
        body = answer.json()
        spent = body["darc"]["spent"]
        assert spent["scores"]["calls"] == 4
        assert spent["scores"]["completion_tokens"] == 4
        assert spent["candidates"]["calls"] == 1
        assert body["usage"]["completion_tokens"] == spent["candidates"]["completion_tokens"]


@pytest.mark.parametrize("k", [1, 4])
def test_other_backends_take_over(openai_server: FakeServer, k: int) -> None:
    with FakeServer() as second:
        both = f"{openai_server.url}|{second.url}"
        with running(openai_server, backend=both, attempts=3) as gateway:
            for seed in range(4):
                assert ask(gateway, {"k": k, "metadata": False}, seed=seed).status_code == 200
            counts = len(openai_server.received), len(second.received)
            assert counts[0] == counts[1] == 2 * k
            openai_server.close()
            for seed in range(10):
                assert ask(gateway, {"k": k, "metadata": False}, seed=seed).status_code == 200
            assert len(second.received) == 12 * k
            assert httpx.get(f"{gateway.url}/readyz").status_code == 200
            second.faults = [Fault("reset")] * 99
            lost = ask(gateway, {"k": k})
        assert lost.status_code == 502
        assert lost.json()["error"]["code"] == "upstream_unreachable"
        assert openai_server.url not in lost.text


@pytest.mark.parametrize("k", [1, 4])
def test_request_is_tried_six_times_in_all(
    openai_server: FakeServer, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryPolicy, "pause", lambda *_: 0.0)
    again = {"Retry-After": "0"}
    kinds = (Fault(status=503, headers=again), Fault("half", 200, content=b"{"), Fault("reset"))
    openai_server.faults = [kinds[i % 3] for i in range(99)]
    with running(openai_server, attempts=ServeSettings().attempts) as gateway:
        assert ask(gateway, {"k": k}).status_code in (502, 503)
    assert len(openai_server.received) == 6
