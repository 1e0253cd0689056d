import asyncio
import json
import logging
import threading
import time
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.web.raw import connected, heard, read

from darc.errors import DarcError
from darc.web.middleware.stack import Protection, protect
from darc.web.server import listen, make_server


async def never_answers(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for event in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{event}.complete"})
        return
    if scope["path"] == "/begun":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
    await asyncio.sleep(60)


def test_requests_that_the_end_interrupts_get_an_error_in_the_usual_shape(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with listen("127.0.0.1", 0) as listener:
        server = make_server(protect(never_answers, Protection()), grace=0)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        port = listener.getsockname()[1]
        waiting = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with (
            connected(port, waiting % b"/") as first,
            connected(port, waiting % b"/begun") as other,
        ):
            assert b"begun" in other.recv(1000)
            with caplog.at_level(logging.WARNING):
                server.should_exit = True
                thread.join(20)
            status, body = read(heard(first))
    assert status == 503
    assert json.loads(body)["error"]["code"] == "shutting_down"
    assert not [record for record in caplog.records if record.exc_info]


def test_port_in_use_is_told() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DarcError, match="cannot listen"):
            listen("127.0.0.1", port)


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(DarcError, match=r"cannot listen on 127\.0\.0\.1:99999"):
        listen("127.0.0.1", 99_999)
