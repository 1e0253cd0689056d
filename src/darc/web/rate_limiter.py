"""Limits on how many requests a client makes per minute."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MAX_CLIENTS = 10_000


@dataclass
class _Bucket:
    """The requests that a client may still make, as of some time."""

    tokens: float
    updated: float


class RateLimiter:
    """A token bucket per client that holds one minute's worth of requests.

    Only the clients seen last are remembered.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def count_request(self, client: str, per_minute: float) -> float:
        """Count a request of a client.

        Args:
            client: The client's name.
            per_minute: How many requests it may make per minute; 0 for any number.

        Returns:
            0 if the request is allowed, otherwise the number of seconds that it came too early.
        """
        if per_minute <= 0:
            return 0.0
        bucket = self._refill(client, per_minute)
        if bucket.tokens < 1:
            return (1 - bucket.tokens) * 60 / per_minute
        bucket.tokens -= 1
        return 0.0

    def _refill(self, client: str, per_minute: float) -> _Bucket:
        """Return the client's bucket with what has come into it since it was last used."""
        now = self._now()
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = _Bucket(per_minute, now)
            self._buckets[client] = bucket
        capacity = max(1.0, per_minute)
        bucket.tokens = min(capacity, bucket.tokens + (now - bucket.updated) * per_minute / 60)
        bucket.updated = now
        self._buckets.move_to_end(client)
        if len(self._buckets) > _MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return bucket
