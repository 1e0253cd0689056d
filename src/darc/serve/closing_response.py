"""A streamed response that releases what it holds."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.responses import StreamingResponse

logger = logging.getLogger(__name__)


class StreamInterrupted(Exception):
    """What was being passed on has ended too early."""


class ClosingResponse(StreamingResponse):  # type: ignore[misc]
    """A stream that releases what it holds, however it ends and even if it never begins."""

    def __init__(
        self, content: AsyncIterator[bytes], close: Callable[[], Awaitable[None]], **options: Any
    ) -> None:
        """Make a response.

        Args:
            content: The bytes of the body.
            close: Called at the end; more can be added to `closers`.
            **options: Further arguments of `StreamingResponse`.
        """
        super().__init__(content, **options)
        self.closers = [close]

    async def stream_response(self, send: Any) -> None:
        """Send the stream; one that is interrupted has no end, so that the client notices."""
        try:
            await super().stream_response(send)
        except StreamInterrupted as error:
            logger.warning("the backend broke off in the middle of an answer: %s", error)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the stream, then close."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            for close in self.closers:
                await close()
