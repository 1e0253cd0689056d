"""A line in the log for every request."""

import logging
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from darc.web.middleware.base import HttpMiddleware
from darc.web.redaction import redact_path

logger = logging.getLogger("darc.web")

#: Called with path, status (0 if the client left before the response began) and seconds.
Observer = Callable[[str, int, float], None]


class AccessLogMiddleware(HttpMiddleware):
    """Logs every request with its status and duration, and reports it to an observer.

    A handler may add fields to the line by setting `request.state.log`.
    """

    def __init__(self, app: ASGIApp, observe: Observer | None = None) -> None:
        """Wrap an application.

        Args:
            app: The application.
            observe: Called after every request.
        """
        super().__init__(app)
        self._observe = observe

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request and log it, however it ends."""
        started = time.perf_counter()
        status = 0

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note_status)
        finally:
            seconds = time.perf_counter() - started
            if self._observe is not None:
                self._observe(scope["path"], status, seconds)
            if logger.isEnabledFor(logging.INFO):
                _log_request(scope, status, seconds)


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    state = scope["state"]
    client = state.get("client")
    fields = {
        "request_id": state["request_id"],
        "client": client.name if client is not None else "",
        "method": scope["method"],
        "path": redact_path(scope["path"]),
        "status": status,
        "milliseconds": round(seconds * 1000, 1),
        **state.get("log", {}),
    }
    logger.info("request", extra={"fields": fields})
