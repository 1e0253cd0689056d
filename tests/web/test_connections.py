import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from tests.web.raw import ask, code_of, connected, flood, heard, read, request, served, slowest

from darc.errors import InputError
from darc.settings.limits import ArrivalSettings
from darc.settings.validation import validate_settings
from darc.web.bodies import read_body
from darc.web.middleware.stack import Protection, protect
from darc.web.problems import Problem

POST = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the length of the body; /late takes its time, /no does not read the body."""
    if scope["type"] == "lifespan":
        for each in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{each}.complete"})
        return
    asked = Request(scope, receive)
    if scope["path"] == "/no":
        raise Problem(401, "no")
    content = await read_body(asked, 1_000_000)
    if scope["path"] == "/late":
        await asyncio.sleep(1.0)
    trailers = [name for name in asked.headers if name.startswith("x-trailer")]
    await PlainTextResponse(f"{len(content)}{trailers or ''}")(scope, receive, send)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    limits = {"max_header": 10_000, "header_timeout": 0.4, "body_timeout": 1.2}
    with served(protect(app, Protection()), **limits) as found:
        yield found


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 300_000,
        b"GET /" + b"x" * 300_000,
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 2000 + b"\r\n",
        CHUNKED + b"0\r\nX-Trailer: " + b"x" * 300_000,
        CHUNKED + b"3;" + b"x" * 300_000,
        CHUNKED + b"3;" + b"x" * 20_000 + b"\r\nabc\r\n0\r\n\r\n",
    ],
    ids=["at once", "in parts", "path", "many", "trailer", "chunk extension", "whole request"],
)
def test_large_headers_are_refused(port: int, sent: bytes) -> None:
    status, body = ask(port, sent)
    assert (status, code_of(body)) == (431, "headers_too_large")


def test_headers_below_the_limit_and_large_bodies_pass(port: int) -> None:
    assert ask(port, request("/", "localhost", b"", "X: " + "x" * 9000)) == (200, "0")
    assert ask(port, request("/", "localhost", b"x" * 900_000)) == (200, "900000")
    assert ask(port, request("/", "localhost", b"x" * 1_000_001))[0] == 413


def test_trailers_are_no_headers(port: int) -> None:
    sent = CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    assert ask(port, sent + b"0\r\nX-Trailer: a\r\n\r\n") == (200, "3")


def test_only_http_1_0_needs_no_host(port: int) -> None:
    assert ask(port, b"GET / HTTP/1.0\r\n\r\n") == (200, "0")
    status, body = ask(port, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert (status, code_of(body)) == (400, "invalid_host")


def test_what_is_no_http_is_refused_in_the_usual_shape(port: int) -> None:
    status, body = ask(port, b"\x16\x03\x01 hello\r\n\r\n")
    assert (status, code_of(body)) == (400, "invalid_http")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: local", 408),
        (POST + b"Content-Length: 5\r\n\r\nab", 408),
        (CHUNKED, 408),
        (POST.replace(b"/", b"/no", 1) + b"Content-Length: 5\r\n\r\nab", 401),
    ],
    ids=["headers", "body", "chunks", "answered already"],
)
def test_half_a_request_is_not_awaited_for_ever(port: int, sent: bytes, status: int) -> None:
    begun = time.monotonic()
    assert ask(port, sent)[0] == status
    assert 0.4 <= time.monotonic() - begun < 4


def test_drops_of_a_body_do_not_keep_it_going(port: int) -> None:
    begun = time.monotonic()
    with connected(port, POST + b"Content-Length: 50\r\n\r\n") as found:
        drops = threading.Thread(target=_drops, args=(found, b"x"))
        drops.start()
        assert read(heard(found))[0] == 408
        assert 1 < time.monotonic() - begun < 4
        drops.join()


def test_silent_connections_and_empty_lines_are_closed(port: int) -> None:
    with connected(port) as found:
        assert heard(found) == b""
    with connected(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") as found:
        assert found.recv(65536).startswith(b"HTTP/1.1 200")
        drops = threading.Thread(target=_drops, args=(found, b"\r\n"))
        drops.start()
        heard(found)
        drops.join()


def _drops(found: socket.socket, drop: bytes) -> None:
    with contextlib.suppress(OSError):
        for _ in range(50):
            found.sendall(drop)
            time.sleep(0.1)
        pytest.fail("the connection was not closed")


def test_late_answers_and_kept_connections_are_not_cut(port: int) -> None:
    one = b"GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(port, one + one) as found:
        time.sleep(3)
        assert found.recv(65536).count(b"HTTP/1.1 200") == 2
        found.sendall(request("/"))
        assert heard(found).startswith(b"HTTP/1.1 200")


def test_an_upgrade_is_answered_as_if_it_were_none(port: int) -> None:
    lines = ("Connection: Upgrade", "Upgrade: h2c")
    sent = "\r\n".join(["GET / HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()
    with connected(port, sent) as found:
        assert found.recv(65536).startswith(b"HTTP/1.1 200")


def test_a_flood_of_headers_stops_nobody(port: int) -> None:
    done = threading.Event()

    def attack() -> None:
        for _ in range(3):
            flood(port, 40)
        done.set()

    attacker = threading.Thread(target=attack)
    attacker.start()
    assert slowest(port, done) < 1
    attacker.join()


@pytest.mark.parametrize("name", ["max_header", "header_timeout", "body_timeout"])
def test_limits_of_nothing_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 0; should be greater than 0"):
        validate_settings(ArrivalSettings, {name: 0})
