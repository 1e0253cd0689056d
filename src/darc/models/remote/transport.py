"""Connections kept for reuse, found in constant time.

The HTTP library's own pool looks at every connection for every call, which at a hundred calls at a
time costs more than the calls. Here each connection is a pool of one, and the idle ones a stack.
"""

import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import httpx

IDLE_SECONDS = 30.0


class StackedTransport(httpx.AsyncBaseTransport):  # type: ignore[misc]
    """As many connections as calls at a time; whoever calls bounds that."""

    def __init__(self) -> None:
        self._context: Any = None
        self._idle: dict[str, deque[tuple[float, Any]]] = {"http": deque(), "https": deque()}

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request on the connection that was used last, or on a new one."""
        idle = self._idle[request.url.scheme]
        slot = await self._slot(request.url.scheme, idle)
        try:
            response = await slot.handle_async_request(request)
        except BaseException:
            # A call that was broken off may leave its connection neither free nor closed.
            await slot.aclose()
            raise
        response.stream = _Stream(response.stream, slot, idle)
        return response

    async def aclose(self) -> None:
        """Close the idle connections."""
        for idle in self._idle.values():
            while idle:
                await idle.popleft()[1].aclose()

    async def _slot(self, scheme: str, idle: deque[tuple[float, Any]]) -> Any:
        now = time.monotonic()
        while idle and idle[0][0] < now - IDLE_SECONDS:
            await idle.popleft()[1].aclose()
        if idle:
            return idle.pop()[1]
        secure = scheme == "https"
        if self._context is None and secure:
            self._context = httpx.create_ssl_context()
        limits = httpx.Limits(
            max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS
        )
        return httpx.AsyncHTTPTransport(verify=self._context if secure else False, limits=limits)


class _Stream(httpx.AsyncByteStream):  # type: ignore[misc]
    """A body that gives its connection back when it is closed."""

    def __init__(self, inner: Any, slot: Any, idle: deque[tuple[float, Any]]) -> None:
        self._inner, self._slot, self._idle = inner, slot, idle

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            yield part

    async def aclose(self) -> None:
        """Close the body, and let another call have the connection."""
        slot, self._slot = self._slot, None
        try:
            await self._inner.aclose()
        except BaseException:
            if slot is not None:
                await slot.aclose()
            raise
        if slot is not None:
            self._idle.append((time.monotonic(), slot))
