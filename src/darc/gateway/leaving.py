"""Work that ends when the client that asked for it leaves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import StreamingResponse

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


class BrokeOff(Exception):
    """What was being passed on has ended before its end."""


class ClosingResponse(StreamingResponse):  # type: ignore[misc]
    """A stream that lets go of what it holds, however it ends and even if it never begins."""

    def __init__(
        self, content: AsyncIterator[bytes], close: Callable[[], Awaitable[None]], **given: Any
    ) -> None:
        super().__init__(content, **given)
        self.closers = [close]

    async def stream_response(self, send: Any) -> None:
        """Send the stream; one that breaks off is left without an end, so that the client knows."""
        try:
            await super().stream_response(send)
        except BrokeOff as problem:
            logger.warning("the backend broke off in the middle of an answer: %s", problem)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the stream, then close."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            for close in self.closers:
                await close()


class ClientLeft(Exception):
    """The client has closed its connection."""


async def unless_gone(
    request: Request, work: "asyncio.Task[Result]", seconds: float | None = None
) -> bool:
    """Wait for work; whether it is done after at most `seconds`.

    Where the client leaves first, the work is cancelled and `ClientLeft` is raised; where the
    waiting itself is cancelled, the work is too. The body must have been read.
    """
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((work, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return True
        if gone.done():
            await ended(work)
            raise ClientLeft
        return False
    except asyncio.CancelledError:
        await ended(work)
        raise
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)


async def ended(work: "asyncio.Task[Any]") -> None:
    """Cancel work and wait until it has let go of everything."""
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


def begun(work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
    """The work as a task."""
    return asyncio.get_running_loop().create_task(work)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
