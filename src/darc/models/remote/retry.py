"""When a failed call is tried again."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

_RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})
_PERMANENT_SERVER_ERRORS = frozenset({501, 505})
_MAX_DOUBLINGS = 60


@dataclass(frozen=True)
class RetryClock:
    """Time and chance, which tests replace so that they need not wait."""

    #: Seconds on a clock that never goes back.
    now: Callable[[], float] = time.monotonic
    #: Seconds since 1970, for comparison with dates.
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: A random number in [0, 1).
    chance: Callable[[], float] = random.random


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how soon a call is tried again.

    The pause after failure i is uniform between 0 and `first` * 2^(i - 1) seconds, but at most
    `longest`. If the server names a time to come back, that is kept.
    """

    #: The most attempts, including the first.
    attempts: int = 6
    #: No attempt begins later than this many seconds after the first.
    seconds: float = 300.0
    #: The longest pause after the first failure, in seconds.
    first: float = 0.5
    #: The longest pause after any failure, in seconds.
    longest: float = 30.0

    def pause(self, retry_after: Sequence[float | None], chance: float) -> float:
        """Return how long to wait before the next attempt at a server.

        Args:
            retry_after: For each failed attempt there, the seconds to come back that it named.
            chance: A random number in [0, 1).

        Returns:
            The pause in seconds; 0 if nothing has failed there yet.
        """
        if not retry_after:
            return 0.0
        latest = retry_after[-1]
        if latest is not None:
            return latest + chance * self.first
        doublings = min(len(retry_after) - 1, _MAX_DOUBLINGS)
        return chance * min(self.longest, self.first * 2.0**doublings)


def is_retryable_status(status: int) -> bool:
    """Whether the same call may succeed later."""
    if status in _RETRYABLE_STATUSES:
        return True
    return status >= 500 and status not in _PERMANENT_SERVER_ERRORS


def parse_retry_after(header: str | None, wall: float) -> float | None:
    """Read a Retry-After header.

    Args:
        header: The header: a number of seconds or a date.
        wall: The time now, in seconds since 1970.

    Returns:
        The seconds to wait, at least 0; None if the header is missing or not readable.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - wall
        except (ValueError, OverflowError, OSError):
            return None
    if not math.isfinite(seconds):
        return None
    return max(0.0, seconds)
