"""Connections with limits on the size of headers and on the time that a request takes to arrive."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from darc.settings.limits import ArrivalSettings
from darc.web.problems import Problem
from darc.web.signals import release_signals

# uvicorn's server ticks ten times a second.
_TICKS_BETWEEN_CHECKS = 5
# The bytes that come with the end of the headers are not counted; these are the most of them.
_SLICE_BYTES = 4096


class Connection(HttpToolsProtocol):  # type: ignore[misc]
    """uvicorn's connection, which by itself waits for ever and accepts headers of any size.

    Bytes are counted since the end of the headers or the last part of a body. So the limit on
    headers holds for trailers and for the extensions of chunks too.
    """

    url: bytes
    headers: list[tuple[bytes, bytes]]

    def __init__(self, *args: Any, limits: ArrivalSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._bytes_since_progress = 0
        self._in_body = False
        # When the request that is arriving began; None while no request is expected.
        self._request_began: float | None = self.loop.time()
        self._body_progressed = 0.0
        self._refused = False

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless too many of them were neither headers nor body."""
        if self._refused or self.transport.is_closing():
            return
        if self._request_began is None:
            self._request_began = self.loop.time()
        for start in range(0, len(data), _SLICE_BYTES):
            part = data[start : start + _SLICE_BYTES]
            self._bytes_since_progress += len(part)
            super().data_received(part)
            if self._bytes_since_progress > self._limits.max_header and not self._refused:
                self._refuse(self._headers_too_large())
            if self._refused or self.transport.is_closing():
                return

    def on_headers_complete(self) -> None:
        """Go on to the body, or refuse headers that arrived at once and are too large."""
        header_bytes = sum(len(name) + len(value) + 4 for name, value in self.headers)
        if len(self.url) + header_bytes > self._limits.max_header:
            self._refuse(self._headers_too_large())
            # An exception here ends the parsing.
            raise ValueError("the headers are too large")
        now = self.loop.time()
        self._in_body = True
        self._bytes_since_progress = 0
        self._request_began = now
        self._body_progressed = now
        super().on_headers_complete()
        # What follows are trailers, which are not headers of this request.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """Note that the body makes progress."""
        self._bytes_since_progress = 0
        self._body_progressed = self.loop.time()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Expect nothing until the next request begins."""
        self._in_body = False
        self._bytes_since_progress = 0
        self._request_began = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, in the shape of all other errors."""
        if not self._refused:
            self._refuse(Problem(400, "the request is not valid HTTP", code="invalid_http"))

    def check_deadlines(self, now: float) -> None:
        """End the connection if the request that is arriving is late.

        Args:
            now: The time by the event loop's clock.
        """
        if self._refused:
            # The client has not taken the refusal.
            self.transport.abort()
        elif self._request_began is None or self.transport.is_closing():
            return
        elif self._in_body:
            self._check_body(now, self._request_began)
        else:
            self._check_headers(now, self._request_began)

    def _check_body(self, now: float, began: float) -> None:
        timeout = self._limits.body_timeout
        if now - began > timeout or now - self._body_progressed > timeout / 2:
            self._refuse(Problem(408, "the body came too slowly", code="request_timeout"))

    def _check_headers(self, now: float, began: float) -> None:
        if now - began <= self._limits.header_timeout or self._is_answering():
            return
        if self._bytes_since_progress:
            self._refuse(Problem(408, "the headers came too slowly", code="request_timeout"))
        else:
            self.transport.close()

    def _headers_too_large(self) -> Problem:
        message = f"the headers are larger than {self._limits.max_header} bytes"
        return Problem(431, message, code="headers_too_large")

    def _is_answering(self) -> bool:
        """Whether the response to an earlier request is not complete yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, problem: Problem) -> None:
        """Answer with an error if no response has begun, and ignore all further bytes."""
        self._refused = True
        self._unset_keepalive_if_required()
        if self._in_body:
            response_begun = self.cycle.response_started
        else:
            response_begun = self._is_answering()
        if response_begun:
            self.transport.abort()
            return
        content = json.dumps(problem.body()).encode()
        self.transport.write(
            STATUS_LINE[problem.status]
            + b"content-type: application/json\r\n"
            + b"connection: close\r\n"
            + b"content-length: %d\r\n\r\n" % len(content)
            + content
        )
        self.transport.close()


class Server(uvicorn.Server):  # type: ignore[misc]
    """uvicorn's server, which checks the deadlines of all connections twice a second.

    Attributes:
        reload: Called soon after `hang_up`, in the event loop; None for nothing.
    """

    def __init__(
        self, config: uvicorn.Config, reload: Callable[[], Coroutine[Any, Any, None]] | None = None
    ) -> None:
        """Make a server.

        Args:
            config: Its configuration.
            reload: Reads the settings of the application again.
        """
        super().__init__(config)
        self.reload = reload
        self._must_reload = False
        self._reloading: set[asyncio.Task[None]] = set()

    def hang_up(self, *_: object) -> None:
        """Have the settings read again; a handler of signals."""
        self._must_reload = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and let signals come that were held back until they can be handled."""
        await super().startup(sockets)
        if threading.current_thread() is threading.main_thread():
            release_signals()

    async def on_tick(self, counter: int) -> bool:
        """Check the connections; the result is whether to stop."""
        if counter % _TICKS_BETWEEN_CHECKS == 0:
            for connection in list(self.server_state.connections):
                connection.check_deadlines(connection.loop.time())
        if self._must_reload and self.reload is not None:
            self._must_reload = False
            task = asyncio.create_task(self.reload())
            self._reloading.add(task)
            task.add_done_callback(self._reloading.discard)
        return bool(await super().on_tick(counter))
