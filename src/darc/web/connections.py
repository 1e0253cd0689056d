"""Connections with limits: on the size of headers, and on the time that a request takes to come."""

import json
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from darc.web.problems import Problem
from darc.web.server import Arrival

TICKS = 5  # of a tenth of a second


class Connection(HttpToolsProtocol):  # type: ignore[misc]
    """uvicorn's connection, which by itself waits for ever and takes headers of any size.

    Bytes are counted from the last that were of use: the end of the headers or a part of the body.
    So the limit of headers holds for trailers and the extensions of chunks too.
    """

    url: bytes
    headers: list[tuple[bytes, bytes]]

    def __init__(self, *given: Any, limits: Arrival, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = limits
        message = f"the headers are larger than {limits.max_header} bytes"
        self._too_large = Problem(431, message, code="headers_too_large")
        self._useless = 0
        self._in_body = False
        self._since: float | None = self.loop.time()  # None while nothing is awaited
        self._moved = 0.0
        self._refusal: Problem | None = None

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless too many of them have come to nothing."""
        if self._refusal is not None or self.transport.is_closing():
            return
        if self._since is None:
            self._since = self.loop.time()
        self._useless += len(data)
        super().data_received(data)
        if self._useless > self._limits.max_header and self._refusal is None:
            self._refuse(self._too_large)

    def on_headers_complete(self) -> None:
        """Go on to the body, or refuse headers that came at once and are too large."""
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._limits.max_header:
            self._refuse(self._too_large)
            raise ValueError("the headers are too large")  # ends the parsing
        self._in_body, self._useless = True, 0
        self._since = self._moved = self.loop.time()
        super().on_headers_complete()
        self.headers = []  # what follows are trailers, and no headers of this request

    def on_body(self, body: bytes) -> None:
        """Note that the body moves."""
        self._useless, self._moved = 0, self.loop.time()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for nothing until the next request begins."""
        self._in_body, self._useless, self._since = False, 0, None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, in the shape of all other errors."""
        if self._refusal is None:
            self._refuse(Problem(400, "the request is not valid HTTP", code="invalid_http"))

    def look(self, now: float) -> None:
        """End the connection if the request that it brings is late."""
        if self._refusal is not None:
            self.transport.abort()  # the refusal was not taken
        elif self._since is None or self.transport.is_closing():
            return
        elif self._in_body:
            most = self._limits.body_timeout
            if now - self._since > most or now - self._moved > most / 2:
                self._refuse(Problem(408, "the body came too slowly", code="request_timeout"))
        elif now - self._since > self._limits.header_timeout and not self._answering():
            if self._useless:
                self._refuse(Problem(408, "the headers came too slowly", code="request_timeout"))
            else:
                self.transport.close()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, problem: Problem) -> None:
        """Answer if no answer was begun, and hear no more."""
        self._refusal = problem
        self._unset_keepalive_if_required()
        begun = self.cycle.response_started if self._in_body else self._answering()
        if begun:
            self.transport.abort()
            return
        content = json.dumps(problem.body()).encode()
        lines = (
            STATUS_LINE[problem.status],
            b"content-type: application/json\r\nconnection: close\r\n",
            b"content-length: %d\r\n\r\n" % len(content),
        )
        self.transport.write(b"".join((*lines, content)))
        self.transport.close()


class Server(uvicorn.Server):  # type: ignore[misc]
    """uvicorn's server, which looks at all connections twice a second."""

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop."""
        if counter % TICKS == 0:
            for each in list(self.server_state.connections):
                each.look(each.loop.time())
        return bool(await super().on_tick(counter))
