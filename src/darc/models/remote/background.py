"""An event loop in a thread of its own, for callers that have none."""

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

from darc.models.remote.scope import HOST

Result = TypeVar("Result")
HEARING = 0.2


class Background:
    """Runs coroutines for synchronous callers, from any number of threads.

    The thread starts with the first of them. `finish` runs in the loop before it ends: at `close`,
    when the object is collected, or as the interpreter exits. In the scope of a host it is the host
    that runs them, in its own loop: a background is used inside a host or outside, never both.
    """

    def __init__(self, finish: Callable[[], Awaitable[None]]) -> None:
        self._finish = finish
        self._lock = threading.Lock()
        self._stop: Callable[[], Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The coroutine's result; whatever interrupts the wait for it cancels it."""
        host = HOST.get()
        if host is not None:
            return host.run(work)
        future = asyncio.run_coroutine_threadsafe(work, self._start())
        try:
            # An interrupt that another thread received is heard at the next turn.
            while not wait([future], HEARING).done:
                pass
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what runs, run `finish`, and end the thread; the next `run` starts another."""
        host = HOST.get()
        if host is not None:
            host.run(_finished(self._finish))
        with self._lock:
            stop, self._stop, self._loop = self._stop, None, None
        if stop is not None:
            stop()

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=_serve, args=(self._loop, self._finish), name="darc-remote", daemon=True
                )
                thread.start()
                self._stop = weakref.finalize(self, _end, self._loop, thread)
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop, finish: Callable[[], Awaitable[None]]) -> None:
    """Run the loop until it is stopped, and leave nothing open."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_wind_up(finish))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _finished(finish: Callable[[], Awaitable[None]]) -> None:
    await finish()


async def _wind_up(finish: Callable[[], Awaitable[None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await finish()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Stop the loop; a collector that runs in the loop's own thread does not wait for it."""
    loop.call_soon_threadsafe(loop.stop)
    if threading.current_thread() is not thread:
        thread.join()
