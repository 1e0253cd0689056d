"""Work of one request in threads, whose calls run in the service's own loop and end with it."""

import asyncio
import concurrent.futures
import contextvars
from collections.abc import Callable, Coroutine
from threading import Lock
from typing import Any, TypeVar

from darc.errors import DarcError
from darc.models.remote import HOST, METER, Meter

Result = TypeVar("Result")
ENDED = "the request has ended"
Future = concurrent.futures.Future[Any]


class Hands:
    """Runs functions in a pool of threads for one request.

    Remote calls that those functions make are run by the loop, and `cancel` ends them: a thread
    that waits for one gets a `DarcError`, and so does one that begins another.
    """

    def __init__(self, pool: concurrent.futures.Executor) -> None:
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._under_way: set[Future] = set()
        self._ended = False

    async def do(
        self, function: Callable[..., Result], *arguments: Any, meter: Meter | None = None
    ) -> Result:
        """What a function returns, called in a thread; `meter` hears of its remote calls."""
        context = contextvars.copy_context()
        context.run(HOST.set, self)
        context.run(METER.set, meter)
        return await self._loop.run_in_executor(self._pool, context.run, function, *arguments)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """A coroutine's result, for a thread that waits for it."""
        with self._lock:
            if self._ended:
                work.close()
                raise DarcError(ENDED)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._under_way.add(future)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            # As it is, it would cancel whoever waits for the thread.
            raise DarcError(ENDED) from None
        finally:
            self._under_way.discard(future)

    def cancel(self) -> None:
        """End the calls under way, and let no other begin."""
        with self._lock:
            self._ended = True
            under_way = list(self._under_way)
        for future in under_way:
            future.cancel()
