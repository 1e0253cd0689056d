"""Which of several servers a call goes to."""

import asyncio
import itertools
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from darc.models.remote.circuit_breaker import BreakerSettings, CircuitBreaker
from darc.models.remote.errors import CircuitOpen
from darc.models.remote.retry import RetryClock


@dataclass(eq=False)
class Endpoint:
    """A server and the calls that it has under way."""

    url: str
    breaker: CircuitBreaker
    #: How many calls are under way.
    running: int = 0
    #: The number of the latest call that was placed here; calls are numbered from 1.
    latest_call: int = 0


class FailedAttempt(NamedTuple):
    """Where an attempt failed, and after how many seconds to come back, if the server said so."""

    endpoint: Endpoint
    retry_after: float | None


@dataclass
class PlacedCall:
    """A call, the endpoint that it occupies, and its failed attempts so far."""

    #: The endpoint at which the call has a place, if it has one.
    endpoint: Endpoint | None = None
    #: Whether this is the one call that finds out if the endpoint is back.
    is_probe: bool = False
    failures: list[FailedAttempt] = field(default_factory=list)

    def retry_after_at(self, endpoint: Endpoint | None) -> list[float | None]:
        """The seconds to come back that an endpoint named, for each attempt that failed there."""
        return [failure.retry_after for failure in self.failures if failure.endpoint is endpoint]

    def rank(self, endpoint: Endpoint) -> tuple[float, int, bool]:
        """How suitable an endpoint is for the next attempt; the smallest rank is the best.

        The best endpoint names no time to come back, has failed this call seldom, and is not the
        one where the latest attempt failed.
        """
        if not self.failures:
            return 0.0, 0, False
        retry_after = self.retry_after_at(endpoint)
        seconds = 0.0
        if retry_after and retry_after[-1] is not None:
            seconds = retry_after[-1]
        return seconds, len(retry_after), endpoint is self.failures[-1].endpoint


class _WaitingCall(NamedTuple):
    place: asyncio.Future[Endpoint]
    call: PlacedCall


class LoadBalancer:
    """Gives calls a place at one of several endpoints, first come first served.

    An endpoint is judged by how a call leaves it: at the call's end, or for another endpoint.

    Args:
        urls: The servers.
        concurrency: The most calls at a time at each server.
        breaker: When a server that fails is left alone.
        clock: The time.
    """

    def __init__(
        self, urls: Iterable[str], concurrency: int, breaker: BreakerSettings, clock: RetryClock
    ) -> None:
        self.endpoints = [Endpoint(url, CircuitBreaker(breaker)) for url in urls]
        self._concurrency = concurrency
        self._breaker = breaker
        self._clock = clock
        self._call_numbers = itertools.count(1)
        self._waiting: deque[_WaitingCall] = deque()

    def reset(self) -> None:
        """Forget places that were given out in another event loop."""
        self._waiting.clear()
        for endpoint in self.endpoints:
            endpoint.running = 0

    def available(self) -> list[Endpoint]:
        """The endpoints whose circuit breaker lets a call through."""
        now = self._clock.now()
        return [
            endpoint
            for endpoint in self.endpoints
            if endpoint.breaker.seconds_until_ready(now) is None
        ]

    async def acquire(self, call: PlacedCall) -> Endpoint:
        """Wait for a place at the endpoint that suits a call best.

        Args:
            call: The call; its endpoint is set.

        Returns:
            The endpoint.

        Raises:
            CircuitOpen: No endpoint may be called at present.
        """
        place: asyncio.Future[Endpoint] = asyncio.get_running_loop().create_future()
        self._waiting.append(_WaitingCall(place, call))
        self._place_waiting_calls()
        try:
            return await place
        except asyncio.CancelledError as problem:
            self.release(call, problem)
            raise

    def next_endpoint(self, call: PlacedCall) -> Endpoint | None:
        """Where a call that has failed goes on: the same endpoint, another one, or none (None)."""
        choices = [endpoint for endpoint in self.available() if endpoint is not call.endpoint]
        if call.endpoint is not None and not call.is_probe:
            choices.append(call.endpoint)
        return min(
            choices,
            key=lambda endpoint: (*call.rank(endpoint), endpoint.running, endpoint.latest_call),
            default=None,
        )

    def release(self, call: PlacedCall, problem: BaseException | None) -> None:
        """Judge the endpoint by how a call ended, and give the call's place to another.

        Args:
            call: The call that ends, or goes to another endpoint.
            problem: What it raised, or None if it succeeded.
        """
        self.record(call, problem)
        self.free_place(call)

    def record(self, call: PlacedCall, problem: BaseException | None) -> None:
        """Tell a call's endpoint, if it has one, how the call ended."""
        if call.endpoint is not None:
            call.endpoint.breaker.record(problem, call.is_probe, self._clock.now())

    def free_place(self, call: PlacedCall) -> None:
        """Give a call's place to another, without judging the endpoint."""
        if call.endpoint is not None:
            call.endpoint.running -= 1
            call.endpoint = None
            self._place_waiting_calls()

    def _place_waiting_calls(self) -> None:
        """Give places to waiting calls in their order.

        A call that waits for particular endpoints, because others have failed it, is overtaken.
        """
        still_waiting = []
        while self._waiting:
            waiting = self._waiting.popleft()
            if waiting.place.done():
                continue
            try:
                endpoint = self._try_to_place(waiting.call)
            except CircuitOpen as problem:
                waiting.place.set_exception(problem)
                continue
            if endpoint is not None:
                waiting.place.set_result(endpoint)
                continue
            still_waiting.append(waiting)
            if not waiting.call.failures:
                # A call that would go anywhere found no room, so neither will the others.
                break
        self._waiting.extendleft(reversed(still_waiting))

    def _try_to_place(self, call: PlacedCall) -> Endpoint | None:
        """Place a call at the least busy of the endpoints that suit it best; None if all are full.

        Raises:
            CircuitOpen: No endpoint may be called at present.
        """
        available = self.available()
        if not available:
            raise self._circuit_open()
        best_rank = min(call.rank(endpoint) for endpoint in available)
        with_room = [
            endpoint
            for endpoint in available
            if endpoint.running < self._concurrency and call.rank(endpoint) == best_rank
        ]
        if not with_room:
            return None
        endpoint = min(with_room, key=lambda one: (one.running, one.latest_call))
        endpoint.latest_call = next(self._call_numbers)
        endpoint.running += 1
        call.endpoint = endpoint
        call.is_probe = endpoint.breaker.begin_call()
        return endpoint

    def _circuit_open(self) -> CircuitOpen:
        now = self._clock.now()
        waits = [endpoint.breaker.seconds_until_ready(now) or 0.0 for endpoint in self.endpoints]
        shortest_wait = min(waits)
        urls = " and ".join(endpoint.url for endpoint in self.endpoints)
        verb = "has" if len(self.endpoints) == 1 else "have"
        return CircuitOpen(
            f"{urls} {verb} failed {self._breaker.threshold} calls in a row",
            f"it is asked again in {shortest_wait:.0f} s",
            retry_after=shortest_wait,
        )
