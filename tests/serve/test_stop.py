"""Gateways that make no more candidates than are worth their cost."""

from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, Running, parts, running

GRADES = [0.1, 6.0, 0.2, -0.3, 0.4, 0.0, 0.3, 0.7]
SCORER = "python:tests.serve.scorers:grades,location=0,scale=1"


def ask(gateway: Running, path: str = "chat/completions", **darc: Any) -> httpx.Response:
    given = {"metadata": "full", "k": 8, "n_aug": 0, "rule": "mean", **darc}
    body = {"model": "fake", "messages": QUESTION, "seed": 100, "darc": given}
    return httpx.post(f"{gateway.url}/v1/{path}", json=body, timeout=20)


@pytest.fixture
def server(openai_server: FakeServer) -> FakeServer:
    openai_server.reply = lambda body, _: f"Answer {GRADES[body['seed'] - 100]}"
    return openai_server


def test_candidates_end_when_they_are_not_worth_it(server: FakeServer) -> None:
    with running(server, parts=parts(scorers=(SCORER,)), stop="pandora") as gateway:
        body = ask(gateway).json()
        result = body["darc"]
        assert body["choices"][0]["message"]["content"] == "Answer 6.0"
        assert (result["k"], result["saved"]) == (2, 6)
        assert "stopped_early" in result["flags"]
        assert [row["seed"] for row in result["candidates"]] == [100, 101]
        assert result["scores"] == [[[0.1], [6.0]]]
        assert len(server.received) == 2
        assert body["usage"]["upstream"]["calls"] == 2
        every = ask(gateway, stop="none").json()["darc"]
        free = ask(gateway, stop="pandora:cost=0").json()["darc"]
    assert (every["k"], every["saved"]) == (free["k"], free["saved"]) == (8, 0)
    assert every["texts"] == free["texts"]
    assert every["texts"][:2] == result["texts"]
    assert "stopped_early" not in every["flags"] + free["flags"]


def test_failed_calls_are_fewer_candidates(server: FakeServer) -> None:
    with running(server, parts=parts(scorers=(SCORER,)), attempts=1) as gateway:
        server.faults = [Fault(status=500)]
        result = ask(gateway, stop="pandora:cost=0").json()["darc"]
        assert (result["k"], result["saved"]) == (7, 0)
        assert "fewer_candidates" in result["flags"]
        server.faults = [Fault(status=500)]
        assert ask(gateway, stop="pandora", policy="closed").status_code == 500
        server.faults = [Fault(status=500)] * 8
        assert ask(gateway, stop="pandora").status_code == 500
        server.faults = [Fault(status=400, message="no such model")]
        assert ask(gateway, stop="pandora").status_code == 400


def test_budgets_hold_while_candidates_are_made(server: FakeServer) -> None:
    with running(server, parts=parts(scorers=(SCORER,))) as gateway:
        result = ask(gateway, stop="pandora:cost=0", budget={"upstream_calls": 3}).json()["darc"]
        assert result["k"] == 3
        assert "budget_upstream" in result["flags"]
        server.latency = 1.0
        late = ask(gateway, stop="pandora", budget={"milliseconds": 100})
        assert (late.status_code, late.json()["error"]["code"]) == (422, "budget")
        some = ask(gateway, stop="pandora:cost=0", budget={"milliseconds": 1700}).json()["darc"]
        assert some["k"] == 2
        assert "budget_milliseconds" in some["flags"]


def test_a_scorer_that_fails_stops_nothing(server: FakeServer) -> None:
    broken = parts(scorers=("python:tests.serve.scorers:broken",))
    with running(server, parts=broken, stop="pandora") as gateway:
        result = ask(gateway).json()["darc"]
        assert (result["k"], result["saved"]) == (8, 0)
        assert "first_candidate" in result["flags"]
        closed = ask(gateway, policy="closed")
    assert (closed.status_code, closed.json()["error"]["code"]) == (503, "part_failed")


def test_playground_tells_of_candidates(server: FakeServer) -> None:
    with running(server, parts=parts(scorers=(SCORER,)), stop="pandora") as gateway:
        told = ask(gateway, "playground").text
    assert told.count("event: candidate") == 2
    assert '"saved": 6' in told


@pytest.mark.parametrize("stop", ["box", 3, "pandora:wave=0", "pandora:cost=-1"])
def test_stop_that_is_none_is_refused(server: FakeServer, stop: Any) -> None:
    with running(server) as gateway:
        answer = ask(gateway, stop=stop)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "darc.stop"
