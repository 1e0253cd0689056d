"""Runs functions in threads for coroutines that wait for them.

The threads are daemons, so that a busy model cannot keep the process from ending, and they are
reused.
"""

import asyncio
import concurrent.futures
import contextvars
import functools
import logging
import os
import queue
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from darc.background import LOOP_HOST
from darc.engine.failures import JobTimedOut
from darc.errors import DarcError

Result = TypeVar("Result")

logger = logging.getLogger(__name__)


async def run_in_thread(
    function: Callable[..., Result], *arguments: Any, seconds: float | None = None
) -> Result:
    """Run a function in a thread of this process.

    Remote calls that the function makes run in the event loop of the caller, and end when the
    caller no longer waits.

    Args:
        function: The function.
        arguments: Its positional arguments.
        seconds: How long to wait for it, None for as long as it takes.

    Returns:
        What the function returns.

    Raises:
        JobTimedOut: If it takes longer. The thread itself cannot be stopped and runs on.
    """
    host = _CallerLoop(asyncio.get_running_loop())
    context = contextvars.copy_context()
    context.run(LOOP_HOST.set, host)
    result: concurrent.futures.Future[Result] = concurrent.futures.Future()
    call = functools.partial(context.run, function, *arguments)
    _idle_inbox().put(_ThreadJob(result, call))
    waiting = asyncio.wrap_future(result)
    try:
        return await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        raise JobTimedOut(f"no answer within {seconds:g} s") from None
    finally:
        host.end()
        waiting.cancel()
        waiting.add_done_callback(log_abandoned)


def log_abandoned(job: "asyncio.Future[Any]") -> None:
    """Log the failure of a job that nobody waits for any longer."""
    if not job.cancelled() and job.exception() is not None:
        logger.debug("abandoned job failed: %s", job.exception())


class _CallerLoop:
    """Runs the remote calls of a job in the event loop that waits for the job (a `LoopHost`)."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._ended = False
        self._calls: set[concurrent.futures.Future[Any]] = set()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine for the thread of the job, and return its result."""
        with self._lock:
            if self._ended:
                coroutine.close()
                raise DarcError("nobody waits for this any longer")
            call = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            self._calls.add(call)
        try:
            return call.result()
        except concurrent.futures.CancelledError:
            raise DarcError("nobody waits for this any longer") from None
        finally:
            self._calls.discard(call)

    def end(self) -> None:
        """Cancel the calls that are running, and let no other begin."""
        with self._lock:
            self._ended = True
            calls = list(self._calls)
        for call in calls:
            call.cancel()


@dataclass(frozen=True)
class _ThreadJob:
    """A call for a thread to make."""

    result: "concurrent.futures.Future[Any]"
    call: Callable[[], Any]


_Inbox = queue.SimpleQueue[_ThreadJob]
# The inboxes of threads that have nothing to do.
_IDLE_INBOXES: list[_Inbox] = []
if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads.
    os.register_at_fork(after_in_child=_IDLE_INBOXES.clear)


def _idle_inbox() -> _Inbox:
    """The inbox of an idle thread, which is started if there is none."""
    try:
        return _IDLE_INBOXES.pop()
    except IndexError:
        inbox: _Inbox = queue.SimpleQueue()
        threading.Thread(target=_run_jobs, args=[inbox], name="darc-work", daemon=True).start()
        return inbox


def _run_jobs(inbox: _Inbox) -> None:
    while True:
        job = inbox.get()
        if job.result.set_running_or_notify_cancel():
            try:
                job.result.set_result(job.call())
            except BaseException as problem:
                job.result.set_exception(problem)
        # While the thread waits for its next job, it must not keep this one alive.
        del job
        _IDLE_INBOXES.append(inbox)
