"""Worker processes, which rewrite and score texts with a copy of the engine's tools each."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Hashable, Iterator, Sequence
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from darc.engine.failures import JobTimedOut
from darc.engine.parts import Parts
from darc.engine.scheduling import FairScheduler
from darc.engine.threads import log_abandoned, run_in_thread
from darc.engine.tools import Tools
from darc.errors import DarcError, InputError

Result = TypeVar("Result")

# How many seconds longer than its limit a job may take before its process is ended.
_GRACE_SECONDS = 5.0
# How many seconds a process may take to end before it is killed.
_END_SECONDS = 0.2
# Worker processes leave the processor to the process that started them.
_NICENESS = 5
_MAIN_GUARD_HINT = 'let a script do what it does below a line: if __name__ == "__main__":'


class Workers:
    """Calls methods of `Tools`, for owners in turn: in worker processes, or else in threads.

    Args:
        tools: The tools that threads of this process use.
        parts: What worker processes make their own tools from; None runs everything in threads.
        processes: How many worker processes there are; 0 runs everything in threads.
    """

    def __init__(self, tools: Tools, parts: Parts | None = None, processes: int = 0) -> None:
        self.processes = 0 if parts is None else processes
        self.scheduler = FairScheduler(self.processes or 1)
        self._tools = tools
        self._parts = parts
        self._compute_scheduler = FairScheduler(1)
        self._pool: Any = None
        # Shared with the worker processes: whether any of them has begun.
        self._any_began: Any = None
        self._closed = False

    async def call_in_turn(
        self, owner: Hashable, method: str, *arguments: Any, seconds: float
    ) -> Any:
        """Call a method of the tools when it is the owner's turn.

        Args:
            owner: The request that the call belongs to.
            method: The name of a method of `Tools`.
            arguments: Its positional arguments.
            seconds: How long it may take.

        Returns:
            What the method returns.

        Raises:
            JobTimedOut: If it takes longer.
            DarcError: If the worker process ends.
        """
        async with self.scheduler.slot(owner):
            return await self.call(method, *arguments, seconds=seconds)

    async def call(self, method: str, *arguments: Any, seconds: float) -> Any:
        """Call a method of the tools for somebody who holds a slot of the `scheduler`.

        Returns only when the job has really ended, so that the slot stays taken until then.
        """
        if not self.processes:
            return await run_in_thread(getattr(self._tools, method), *arguments, seconds=seconds)
        if self._closed:
            raise asyncio.CancelledError
        if self._pool is None or not self._pool.active:
            self.close()
            self._start()
        future = self._pool.schedule(
            _call_tools, args=[method, arguments], timeout=seconds + _GRACE_SECONDS
        )
        job: asyncio.Future[Any] = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            job.add_done_callback(log_abandoned)
            await asyncio.wait([job])
            raise
        except TimeoutError:
            raise JobTimedOut(f"no answer within {seconds:g} s") from None
        except Exception as problem:
            if type(problem).__name__ not in ("ProcessExpired", "BrokenProcessPool"):
                raise
            if not self._any_began.value:
                raise InputError("no worker process could be started", _MAIN_GUARD_HINT) from None
            raise DarcError(f"a worker process ended ({problem})") from None

    async def compute(
        self, owner: Hashable, function: Callable[..., Result], *arguments: Any
    ) -> Result:
        """Run a function that keeps this process busy in a thread, one such function at a time."""
        async with self._compute_scheduler.slot(owner):
            return await run_in_thread(function, *arguments)

    async def warm(self, seconds: float) -> None:
        """Let every process load what it needs, so that the first request need not wait."""
        number = max(1, self.processes)
        calls = [self.call_in_turn(object(), "warm", seconds=seconds) for _ in range(number)]
        await asyncio.gather(*calls)

    def close(self, for_good: bool = False) -> None:
        """End all processes at once.

        Args:
            for_good: Let nothing begin until this is called again without it.
        """
        pool = self._pool
        self._pool = None
        self._closed = for_good
        if pool is not None:
            pool.stop()
            pool.join()

    def _start(self) -> None:
        from pebble import CONSTS, ProcessPool

        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # This is a worker that runs the user's script again because the script has no main
            # guard. The process that started it explains that to the user.
            os._exit(1)
        # The processes hold nothing that ending them could harm.
        CONSTS.term_timeout = _END_SECONDS
        context = multiprocessing.get_context("spawn")
        self._any_began = context.Value("b", 0, lock=False)
        self._pool = ProcessPool(
            self.processes,
            initializer=_make_tools,
            initargs=(self._parts, self._any_began),
            context=context,
        )
        with _interrupts_blocked():
            # Reading the property starts the processes.
            assert self._pool.active


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let processes and threads that are started in the block not hear of interrupts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting the tracker changes the signal mask, so it is started before the mask is set.
    resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# The tools of this worker process.
_TOOLS: Tools | None = None


def _make_tools(parts: Parts, any_began: Any) -> None:
    """Make the tools of a worker process."""
    global _TOOLS
    any_began.value = 1
    # An interrupt is handled by the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    _TOOLS = parts.tools()


def _call_tools(method: str, arguments: Sequence[Any]) -> Any:
    return getattr(_TOOLS, method)(*arguments)
