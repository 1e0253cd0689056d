import logging
from typing import Any

import pytest

pytest.importorskip("starlette")

from tests.web.middleware.asgi import answer_ok, request

from darc.web.middleware.access_log import AccessLogMiddleware
from darc.web.middleware.client import Client


def test_a_request_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    observed: list[tuple[str, int]] = []
    app = AccessLogMiddleware(answer_ok, lambda path, status, _: observed.append((path, status)))
    with caplog.at_level(logging.INFO, "darc.web"):
        request(app, "/v1/models", client=Client("alice"), log={"flags": ["held"]})
    (record,) = caplog.records
    fields: dict[str, Any] = record.__dict__["fields"]
    assert fields.pop("milliseconds") >= 0
    assert fields == {
        "request_id": "r1", "client": "alice", "method": "GET", "path": "/v1/models",
        "status": 200, "flags": ["held"],
    }  # fmt: skip
    assert observed == [("/v1/models", 200)]


def test_a_client_that_left_has_status_0() -> None:
    async def leave(scope: Any, receive: Any, send: Any) -> None:
        raise ConnectionError

    observed: list[int] = []
    app = AccessLogMiddleware(leave, lambda path, status, seconds: observed.append(status))
    with pytest.raises(ConnectionError):
        request(app)
    assert observed == [0]
