"""How much a client may ask for, and how much a service does at a time."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from darc.errors import InputError
from darc.web.problems import busy

MOST_CLIENTS = 10_000


@dataclass(frozen=True)
class Arrival:
    """How large the headers of a request may be, and how long it may take to come.

    A body has `body_seconds` in all, and half of them without a byte.
    """

    header_bytes: int = 65_536
    header_seconds: float = 10.0
    body_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Refuse what no request could keep to."""
        options = {
            "--max-header": self.header_bytes,
            "--header-timeout": self.header_seconds,
            "--body-timeout": self.body_seconds,
        }
        for name, value in options.items():
            if not value > 0:
                raise InputError(f"{name} is {value}", "give more than 0")


class Rates:
    """Requests a minute by client, a token bucket each that holds as much as a minute's worth."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, rate: float) -> float:
        """Count a request; the result is 0, or how many seconds too early it is."""
        if rate <= 0:
            return 0.0
        now = self._now()
        left, then = self._buckets.get(client, (rate, now))
        left = min(max(1.0, rate), left + (now - then) * rate / 60)
        early = 0.0 if left >= 1 else (1 - left) * 60 / rate
        self._buckets[client] = (left if early else left - 1, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return early


class Gate:
    """At most `active` requests at a time and `queue` that wait; more are told to come back."""

    def __init__(self, active: int, queue: int) -> None:
        self.active = active
        self.queue = queue
        self.running = self.waiting = 0
        self._places = asyncio.Semaphore(active)

    async def __aenter__(self) -> None:
        if self._places.locked() and self.waiting >= self.queue:
            raise busy("the server is busy and its queue is full", "queue_full", 1.0)
        self.waiting += 1
        try:
            await self._places.acquire()
        finally:
            self.waiting -= 1
        self.running += 1

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.running -= 1
        self._places.release()
