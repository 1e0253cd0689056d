"""What all models together may be asked for a request, retries included."""

from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, Running, parts, running

SOON = {"Retry-After": "0"}


def ask(gateway: Running, **darc: Any) -> httpx.Response:
    body = {"model": "fake", "messages": QUESTION, "seed": 1, "darc": {"metadata": "full", **darc}}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=20)


def judged(server: FakeServer, **given: Any) -> Any:
    server.reply = lambda body, index: (
        str(body["messages"][-1]["content"].count("e") % 10)
        if "grade" in str(body["messages"]).lower()
        else f"It is warm on day {body.get('seed')} and the sea is green."
    )
    return parts(scorers=(f"judge:fake@{server.url},key_env=",), **{"n_aug": 0, **given})


def test_calls_of_candidates_end_at_the_limit(openai_server: FakeServer) -> None:
    with running(openai_server, max_upstream_calls=3) as gateway:
        body = ask(gateway, k=5).json()
        assert {"budget_upstream", "fewer_candidates"} <= set(body["darc"]["flags"])
        assert body["darc"]["k"] == len(openai_server.received) == 3
        assert "calls or tokens of the request were used up" in body["darc"]["explanation"]
        assert body["usage"]["upstream"]["calls"] == body["darc"]["spent"]["candidates"]["calls"]
        closed = ask(gateway, k=5, policy="closed")
    assert (closed.status_code, closed.json()["error"]["code"]) == (422, "over_limit")


def test_retries_are_counted(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=503, headers=SOON)] * 2
    with running(openai_server, max_upstream_calls=5) as gateway:
        body = ask(gateway, k=4).json()
        assert len(openai_server.received) == 5
        assert body["darc"]["k"] == 3
        assert body["usage"]["upstream"]["calls"] == 5
        openai_server.faults = [Fault(status=503, headers=SOON)] * 9
        lost = ask(gateway, k=1)
        assert lost.status_code == 503
        openai_server.received.clear()
        passed = ask(gateway, k=1, budget={"upstream_calls": 1})
        assert (passed.status_code, passed.json()["error"]["code"]) == (422, "over_limit")
        assert len(openai_server.received) == 1


def test_scores_that_came_before_the_limit_decide(openai_server: FakeServer) -> None:
    with running(openai_server, parts=judged(openai_server), max_upstream_calls=6) as gateway:
        body = ask(gateway, k=4, budget={"upstream_calls": 100}).json()
        result = body["darc"]
        assert "budget_upstream" in result["flags"]
        assert "first_candidate" not in result["flags"]
        assert len(openai_server.received) == 6 == body["usage"]["upstream"]["calls"]
        assert {name: row["calls"] for name, row in result["spent"].items()} == {
            "candidates": 4, "rewrites": 0, "scores": 2,
        }  # fmt: skip
        assert sum(row[0] is not None for row in result["scores"][0]) == 2
        closed = ask(gateway, k=4, policy="closed")
        assert (closed.status_code, closed.json()["error"]["code"]) == (422, "over_limit")
        assert "budget_upstream" not in ask(gateway, k=2).json()["darc"]["flags"]


def test_tokens_end_at_the_limit(openai_server: FakeServer) -> None:
    with running(openai_server, parts=judged(openai_server)) as gateway:
        body = ask(gateway, k=3, budget={"upstream_tokens": 1}).json()
        assert "budget_upstream" in body["darc"]["flags"]
        assert body["usage"]["upstream"]["tokens"] >= 1
        assert len(openai_server.received) == 3
        free = ask(gateway, k=3, budget={"upstream_tokens": 0}).json()
    spent = sum(row.get("total_tokens", 0) for row in free["darc"]["spent"].values())
    assert free["usage"]["upstream"] == {"calls": 6, "tokens": spent}


def test_rewriter_that_reaches_the_limit_leaves_the_originals(openai_server: FakeServer) -> None:
    made = parts(rewriter=f"llm:fake@{openai_server.url},key_env=", n_aug=3)
    with running(openai_server, parts=made, max_upstream_calls=5) as gateway:
        result = ask(gateway, k=4, full=True).json()["darc"]
        assert "budget_upstream" in result["flags"]
        assert result["rule"] == "auto"
        assert len(openai_server.received) <= 5
        closed = ask(gateway, k=4, full=True, policy="closed")
    assert (closed.status_code, closed.json()["error"]["code"]) == (422, "over_limit")


@pytest.mark.parametrize("value", [-1, "many", True])
def test_limit_that_is_none_is_refused(openai_server: FakeServer, value: Any) -> None:
    with running(openai_server) as gateway:
        answer = ask(gateway, budget={"upstream_calls": value})
    assert answer.status_code == 400
    assert "upstream_calls" in answer.text
