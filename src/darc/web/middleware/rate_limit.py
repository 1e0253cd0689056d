"""Limits on what one client may ask for."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from darc.web.middleware.base import HttpMiddleware
from darc.web.middleware.client import Client
from darc.web.problems import too_many_requests
from darc.web.rate_limiter import RateLimiter

_CODE = "rate_limit_exceeded"


class RateLimitMiddleware(HttpMiddleware):
    """Refuses requests of a client that makes too many per minute, or too many at a time.

    Requests without a client (on public paths) are not counted.
    """

    def __init__(self, app: ASGIApp, rate: float = 0.0, limiter: RateLimiter | None = None) -> None:
        """Wrap an application.

        Args:
            app: The application.
            rate: Requests per minute of a client that has no limit of its own; 0 for any number.
            limiter: Counts the requests of each client.
        """
        super().__init__(app)
        self._rate = rate
        self._limiter = limiter or RateLimiter()
        self._active: Counter[str] = Counter()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request if its client has not reached a limit."""
        client = scope["state"].get("client")
        if client is None:
            await self.app(scope, receive, send)
            return
        with self._admit(client):
            await self.app(scope, receive, send)

    @contextmanager
    def _admit(self, client: Client) -> Iterator[None]:
        """Count a request of a client while it runs.

        Raises:
            Problem: With status 429.
        """
        seconds_early = self._limiter.count_request(client.name, client.rate or self._rate)
        if seconds_early:
            raise too_many_requests("too many requests", _CODE, seconds_early)
        if client.max_active and self._active[client.name] >= client.max_active:
            message = f"more than {client.max_active} requests at a time"
            raise too_many_requests(message, _CODE, 1.0)
        self._active[client.name] += 1
        try:
            yield
        finally:
            self._active[client.name] -= 1
            if not self._active[client.name]:
                del self._active[client.name]
