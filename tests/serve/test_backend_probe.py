"""Whether a gateway says truly that its backend can be reached."""

import logging
import socket
import time

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.running import Running, settings_for

SECONDS = 10.0


def _ready_metric(gateway: Running) -> str:
    lines = httpx.get(f"{gateway.url}/metrics").text.splitlines()
    return next(line for line in lines if line.startswith("darc_backend_ready ")).split()[1]


def test_a_backend_that_is_dead_from_the_start_is_not_ready(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with caplog.at_level(logging.WARNING):
        gateway = Running(settings_for(None, backend=url))
        try:
            deadline = time.monotonic() + SECONDS
            while url not in caplog.text:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert httpx.get(f"{gateway.url}/readyz").status_code == 503
            assert _ready_metric(gateway) == "0.0"
            assert httpx.get(f"{gateway.url}/healthz").status_code == 200
        finally:
            gateway.close()


def test_a_backend_that_runs_is_ready(gateway: Running, openai_server: FakeServer) -> None:
    gateway.ready()
    assert _ready_metric(gateway) == "1.0"
    assert openai_server.received == []
