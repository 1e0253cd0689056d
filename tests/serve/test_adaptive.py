"""A gateway whose panel is asked by what its grades are worth."""

from typing import Any

import httpx
import pytest
from tests.engine.test_adaptive_panel import learnt, pools
from tests.engine.test_panel_samples import graded
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, parts, running

import darc
from darc.decide.model.calibration_file import as_calibrations
from darc.errors import InputError


@pytest.fixture
def backend(openai_server: FakeServer) -> FakeServer:
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = graded(pools(1, 8)[0])
    return openai_server


def ask(gateway: Running, **options: Any) -> httpx.Response:
    body = {"model": "mine", "messages": QUESTION, "seed": 0, "darc": {"metadata": True, **options}}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=30)


def gateway(backend: FakeServer, **options: Any) -> Any:
    panel = parts(panel=darc.Panel(mode="separate"))
    options = {"calibrations": as_calibrations(learnt()), **options}
    return running(backend, parts=panel, k=8, **options)


def test_a_request_may_ask_for_it_and_hears_what_was_saved(backend: FakeServer) -> None:
    with gateway(backend) as running_gateway:
        answer = ask(running_gateway, adaptive=True).json()
        metrics = httpx.get(f"{running_gateway.url}/metrics").text
        dear = ask(running_gateway, adaptive=True, call_price=50).json()["darc"]
        refused = ask(running_gateway, adaptive=True, rule="epsilon")
        negative = ask(running_gateway, adaptive=True, call_price=-1)
    result = answer["darc"]
    saved = result["panel"]["saved"]
    assert saved >= 0.4 * 64
    assert answer["usage"]["upstream"]["saved"] == saved
    assert f"darc_calls_saved_total {float(saved)}" in metrics
    assert any(flag.startswith("likely:") for flag in result["flags"])
    assert result["certainty"]["probability"] > 0.3
    assert dear["panel"]["asked"] <= 10
    assert refused.status_code == 400
    assert "needs every grade" in refused.json()["error"]["message"]
    assert negative.json()["error"]["param"] == "darc.call_price"


def test_a_server_may_do_it_for_all_requests(backend: FakeServer) -> None:
    with gateway(backend, adaptive=True) as running_gateway:
        usual = ask(running_gateway).json()["darc"]
        other_rule = ask(running_gateway, rule="mean").json()["darc"]
        everything = ask(running_gateway, full=True).json()["darc"]
        exact = ask(running_gateway, adaptive=False).json()["darc"]
    assert usual["panel"]["saved"] >= 0.4 * 64
    assert not any(flag.startswith("likely:") for flag in other_rule["flags"])
    assert everything["panel"]["asked"] == 64
    assert not any(flag.startswith("likely:") for flag in exact["flags"])


def test_a_server_without_a_calibration_does_not_start(backend: FakeServer) -> None:
    with (
        pytest.raises(InputError, match="darc calibrate"),
        gateway(backend, adaptive=True, calibrations=None),
    ):
        pass
