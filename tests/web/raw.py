"""Servers on a real port, and clients that write bytes rather than requests."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from darc.settings.limits import ArrivalSettings
from darc.web.server import listen, make_server


@contextlib.contextmanager
def served(app: Any, **limits: Any) -> Iterator[int]:
    """The port of a server in a thread."""
    bound = listen("127.0.0.1", 0)
    one = make_server(app, 5, ArrivalSettings(**limits))
    thread = threading.Thread(target=one.run, args=([bound],))
    thread.start()
    try:
        while not one.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield bound.getsockname()[1]
    finally:
        one.should_exit = True
        thread.join(20)
        bound.close()


@contextlib.contextmanager
def connected(port: int, sent: bytes = b"", seconds: float = 10.0) -> Iterator[socket.socket]:
    """A connection on which some bytes were sent."""
    with socket.create_connection(("127.0.0.1", port), seconds) as found:
        found.sendall(sent)
        yield found


def heard(found: socket.socket) -> bytes:
    """Everything that comes until the other side closes; a time-out is an error."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := found.recv(65536):
            parts.append(part)
    return b"".join(parts)


def ask(port: int, sent: bytes, seconds: float = 10.0) -> tuple[int, str]:
    """Status and body of the answer to bytes, after which the connection is closed."""
    with connected(port, seconds=seconds) as found:
        with contextlib.suppress(ConnectionError):
            found.sendall(sent)
        return read(heard(found))


def read(answer: bytes) -> tuple[int, str]:
    """Status and body of the last answer in some bytes."""
    last = answer[answer.rindex(b"HTTP/1.1 ") :]
    head, _, body = last.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


def request(
    path: str = "/", host: str = "127.0.0.1", body: bytes = b"", *lines: str, method: str = ""
) -> bytes:
    """A request that closes its connection; `lines` are more headers."""
    method = method or ("POST" if body else "GET")
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *lines]
    head += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*head, "", ""]).encode() + body


def code_of(body: str) -> str:
    """The code of an error in OpenAI's shape."""
    return str(json.loads(body)["error"]["code"])


def flood(port: int, megabytes: int) -> None:
    """Send a header that does not end, until it is cut off or that much was sent."""
    begun = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
    with contextlib.suppress(ConnectionError), connected(port, begun) as found:
        for _ in range(megabytes):
            found.sendall(b"x" * 1_000_000)


def slowest(port: int, done: threading.Event) -> float:
    """The longest time that a health check takes until something is done."""
    worst = 0.0
    while not done.is_set():
        begun = time.monotonic()
        assert ask(port, request("/healthz"), 60)[0] == 200
        worst = max(worst, time.monotonic() - begun)
    return worst
