"""When a failed call is tried again."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

PASSING = frozenset({408, 409, 425, 429})
LASTING = frozenset({501, 505})


@dataclass(frozen=True)
class RetryClock:
    """Time and chance, so that neither needs to be waited for in a test.

    `now` never runs backwards, `wall` is the date as seconds since 1970, `chance` is uniform on
    [0, 1).
    """

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True)
class Retry:
    """At most `attempts` tries, none of them begun later than `seconds` after the first.

    The pause before try i + 1 is uniform between 0 and `first` 2^(i - 1) seconds, at most
    `longest`; a server that names a time to come back is taken at its word.
    """

    attempts: int = 6
    seconds: float = 300.0
    first: float = 0.5
    longest: float = 30.0

    def pause(self, attempt: int, after: float | None, chance: float) -> float:
        """The seconds to wait after this many failed attempts."""
        if after is not None:
            return after + chance * self.first
        return chance * min(self.longest, self.first * 2.0 ** min(attempt - 1, 60))


def is_passing(status: int) -> bool:
    """Whether the same call may succeed later."""
    return status in PASSING or (status >= 500 and status not in LASTING)


def retry_after(header: str | None, wall: float) -> float | None:
    """The seconds that a Retry-After header asks for, given in seconds or as a date."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - wall
        except (ValueError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
