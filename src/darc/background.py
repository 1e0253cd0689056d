"""An event loop in a thread of its own, which runs coroutines for callers without a loop."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from darc.closing import Closing

Result = TypeVar("Result")
CleanUp = Callable[[], Coroutine[Any, Any, None]]

# How often a waiting caller wakes up, in seconds, so that it notices an interrupt.
_POLL_SECONDS = 0.2


class LoopHost(Protocol):
    """An event loop of somebody else's that runs coroutines for threads which wait for them."""

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the host's loop and return its result."""


#: The host of the code that is running, where there is one.
LOOP_HOST: ContextVar[LoopHost | None] = ContextVar("darc_loop_host", default=None)


class BackgroundLoop(Closing):
    """Runs coroutines for synchronous callers, from any number of threads.

    The thread starts with the first coroutine. Where `LOOP_HOST` is set, coroutines run in the
    host's loop instead. Use one object either inside a host or outside, never both, because
    connections belong to the loop that opened them.

    Args:
        clean_up: Runs in the loop before it ends: at `close`, when the object is garbage-collected
            or when the interpreter exits.
    """

    def __init__(self, clean_up: CleanUp) -> None:
        self._clean_up = clean_up
        self._lock = threading.Lock()
        self._stop: Callable[[], Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine and return its result; an interrupted wait cancels it."""
        host = LOOP_HOST.get()
        if host is not None:
            return host.run(coroutine)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
        try:
            # A blocking wait would not notice an interrupt that another thread received.
            while not wait([future], _POLL_SECONDS).done:
                pass
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what is running, clean up and end the thread; the next `run` starts another."""
        host = LOOP_HOST.get()
        if host is not None:
            host.run(self._clean_up())
        with self._lock:
            stop = self._stop
            self._stop = None
            self._loop = None
        if stop is not None:
            stop()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(
                    target=_run_until_stopped,
                    args=(self._loop, self._clean_up),
                    name="darc-loop",
                    daemon=True,
                )
                thread.start()
                self._stop = weakref.finalize(self, _stop_loop, self._loop, thread)
            return self._loop


def _run_until_stopped(loop: asyncio.AbstractEventLoop, clean_up: CleanUp) -> None:
    """Run the loop until it is stopped, and leave nothing open.

    `asyncio.Runner` is not used because it would wait for the threads of parts that are busy.
    """

    async def wind_up() -> None:
        other_tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in other_tasks:
            task.cancel()
        await asyncio.gather(*other_tasks, return_exceptions=True)
        await clean_up()

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(wind_up())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _stop_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Stop the loop and wait for its thread."""
    loop.call_soon_threadsafe(loop.stop)
    # The garbage collector may run in the loop's own thread, which cannot wait for itself.
    if threading.current_thread() is not thread:
        thread.join()
