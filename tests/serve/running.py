"""A gateway that runs in a thread, on a real port of the loopback interface."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.fakes import FakeServer

from darc.engine.parts import Parts
from darc.json_files import json_lines
from darc.serve.app import make_app, make_gateway
from darc.serve.service import Gateway
from darc.serve.settings import ServeSettings
from darc.web.allowed_hosts import AllowedHosts
from darc.web.server import listen, make_server

QUESTION = [{"role": "user", "content": "Why are there two tides?"}]


class Running:
    """A gateway under test: its URL, itself, and a way to stop it."""

    def __init__(
        self,
        settings: ServeSettings,
        gateway: Gateway | None = None,
        hosts: AllowedHosts | None = None,
    ) -> None:
        self.settings = settings
        self.gateway = gateway or make_gateway(settings)
        self._socket = listen("127.0.0.1", 0)
        self.port: int = self._socket.getsockname()[1]
        self.server = make_server(make_app(settings, self.gateway, hosts), grace=10)
        self.server.main_loop = self._until_told
        self.thread = threading.Thread(target=self.server.run, args=([self._socket],))
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.005)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ready(self) -> None:
        """Wait until everything is loaded."""
        while httpx.get(f"{self.url}/readyz").status_code != 200:
            time.sleep(0.02)

    async def _until_told(self) -> None:
        """What uvicorn does ten times a second, so that hundreds of gateways end sooner."""
        while not await self.server.on_tick(0):
            await asyncio.sleep(0.01)

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()
        self._socket.close()


def parts(**given: Any) -> Parts:
    """Scorers and a rewriter that need no model."""
    return Parts(**{"scorers": ("form",), "n_aug": 2, "guard": False, **given})


def settings_for(backend: FakeServer | None, /, **given: Any) -> ServeSettings:
    base: dict[str, Any] = {
        "backend": "" if backend is None else backend.url,
        "k": 4,
        "parts": parts(),
        "attempts": 2,
        "backend_timeout": 5.0,
        "keep_alive": 3.0,
        "workers": 0,
        "model_list_seconds": 0.0,
    }
    return ServeSettings(**{**base, **given})


@contextmanager
def running(backend: FakeServer, /, **given: Any) -> Iterator[Running]:
    """A gateway in front of a fake server."""
    one = Running(settings_for(backend, **given))
    try:
        yield one
    finally:
        one.close()


def raw_request(port: int, target: bytes, method: bytes = b"GET", more: bytes = b"") -> bytes:
    """What a service answers to a request line that no library would send."""
    named = b"Host: 127.0.0.1:%d\r\nConnection: close\r\n" % port
    head = method + b" " + target + b" HTTP/1.1\r\n" + named + more
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(head + b"\r\n")
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def read_audit(path: Path) -> list[dict[str, Any]]:
    """The rows of an audit log, older files first."""
    numbered = sorted(
        path.parent.glob(f"{path.name}.*"), key=lambda each: -int(each.suffix[1:] or 0)
    )
    return [row for each in [*numbered, path] for _, row in json_lines(each)]
