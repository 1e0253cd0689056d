"""Limits on what one client may ask for, counted in this process."""

from collections import Counter
from typing import Protocol

from darc.web.rate_limiter import RateLimiter


class ClientLimits(Protocol):
    """Counts the requests of each client: per minute, and at a time."""

    def count_request(self, client: str, per_minute: float) -> float:
        """Count a request, and return by how many seconds it came too early; 0 if it did not."""

    def begin(self, client: str, max_active: int) -> bool:
        """Count a request that begins, unless `max_active` of the client run already (0: any)."""

    def end(self, client: str) -> None:
        """Count the end of a request that had begun."""


class LocalClientLimits(RateLimiter):
    """The limits of a service that is one process."""

    def __init__(self) -> None:
        """Begin with no requests."""
        super().__init__()
        self._active: Counter[str] = Counter()

    def begin(self, client: str, max_active: int) -> bool:
        """Count a request that begins, unless `max_active` of the client run already (0: any)."""
        if max_active and self._active[client] >= max_active:
            return False
        self._active[client] += 1
        return True

    def end(self, client: str) -> None:
        """Count the end of a request that had begun."""
        self._active[client] -= 1
        if not self._active[client]:
            del self._active[client]
