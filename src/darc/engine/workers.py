"""Who does the work, and when: turns of owners, threads, and processes of their own."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import functools
import logging
import multiprocessing
import os
import queue
import signal
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, TypeVar

from darc.background import LOOP_HOST
from darc.errors import DarcError, InputError

if TYPE_CHECKING:
    from darc.engine.parts import Parts, Tools

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
# Owners whose share is remembered; the one not heard of for longest is forgotten first.
REMEMBERED = 1000
# What rewriting and scoring a character takes, roughly.
SECONDS_PER_CHARACTER = 3e-6
# How much longer than its limit a piece of work may take before its process is ended.
GRACE = 5.0
# How long a process may take to end before it is killed.
ENDING = 0.2
NICE = 5
MAIN = 'let a script do what it does below a line: if __name__ == "__main__":'


@dataclass(frozen=True, eq=False)
class Owner:
    """Whose work it is, of how many characters in all, as far as that is known."""

    characters: int = 0


class Shares(OrderedDict[Hashable, float]):
    """What each owner has had and what its whole work is expected to be, by its characters."""

    def __init__(self, per_character: float = 1.0) -> None:
        super().__init__()
        self._per_character = per_character

    def __missing__(self, owner: Hashable) -> float:
        """Only the expected is known of an owner that has had nothing."""
        self.charge(owner, 0.0)
        return self[owner]

    def charge(self, owner: Hashable, amount: float) -> None:
        """Add to what an owner has had."""
        expected = owner.characters if isinstance(owner, Owner) else 0
        self[owner] = self.pop(owner, self._per_character * expected) + amount
        if len(self) > REMEMBERED:
            self.popitem(last=False)


class Turns:
    """At most `slots` pieces of work at a time; of those who wait, the owner with least is next.

    What counts is the time that an owner has had and what its whole work is expected to take.
    `slot_for(who)` is for work that belongs to whoever `who` names when there is a slot; what it
    took is charged to the `had` of its owners.
    """

    def __init__(self, slots: int) -> None:
        self.slots, self.had = slots, Shares(SECONDS_PER_CHARACTER)
        self._free = slots
        self._waiting: list[tuple[Callable[[], Hashable], asyncio.Future[None]]] = []

    @contextlib.asynccontextmanager
    async def slot(self, owner: Hashable) -> AsyncIterator[None]:
        """A slot, for as long as the block lasts."""
        now = asyncio.get_running_loop().time
        async with self.slot_for(lambda: owner):
            begun = now()
            try:
                yield
            finally:
                self.had.charge(owner, now() - begun)

    @contextlib.asynccontextmanager
    async def slot_for(self, who: Callable[[], Hashable]) -> AsyncIterator[None]:
        """The same, in the turn of the owner that `who` names."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._free:
            self._free -= 1
            place.set_result(None)
        else:
            self._waiting.append((who, place))
        try:
            await place
            yield
        finally:
            if place.done() and not place.cancelled():
                self._give()

    def _give(self) -> None:
        """Hand a slot to the next owner that still waits, or keep it free."""
        while self._waiting:
            costs = [self.had[who()] for who, _ in self._waiting]
            _, place = self._waiting.pop(costs.index(min(costs)))
            if not place.done():
                place.set_result(None)
                return
        self._free += 1


_TOOLS: "Tools | None" = None


class WorkTimedOut(DarcError):
    """A piece of work took longer than it may."""


class Workers:
    """Runs methods of `Tools` for owners in turn.

    With `processes` those methods run in so many processes, each with tools of its own that are
    made from `parts`; otherwise in threads, with the `tools` that are given. Work that nobody waits
    for any longer is not begun.
    """

    def __init__(self, tools: "Tools", parts: "Parts | None" = None, processes: int = 0) -> None:
        self.processes = processes if parts is not None else 0
        self._tools, self._parts = tools, parts
        self.turns = Turns(self.processes or 1)
        self._busy = Turns(1)
        self._pool: Any = None
        self._begun: Any = None
        self._ending = False

    async def in_process(
        self, owner: Hashable, method: str, *arguments: Any, seconds: float
    ) -> Any:
        """What a method of the tools returns, in a process where there are any, else a thread."""
        async with self.turns.slot(owner):
            return await self.at_slot(method, *arguments, seconds=seconds)

    async def at_slot(self, method: str, *arguments: Any, seconds: float) -> Any:
        """The same for whoever has a slot already, and keeps it until the work has really ended."""
        if not self.processes:
            return await self.in_thread(getattr(self._tools, method), *arguments, seconds=seconds)
        if self._ending:
            raise asyncio.CancelledError
        if self._pool is None or not self._pool.active:
            self.close()
            self._start()
        how = {"args": [method, arguments], "timeout": seconds + GRACE}
        work: asyncio.Future[Any] = asyncio.wrap_future(self._pool.schedule(_work, **how))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            work.add_done_callback(_heard)
            await asyncio.wait([work])
            raise
        except TimeoutError:
            raise WorkTimedOut(f"no answer within {seconds:g} s") from None
        except Exception as problem:
            if type(problem).__name__ not in ("ProcessExpired", "BrokenProcessPool"):
                raise
            if not self._begun.value:
                raise InputError("no worker process could begin", MAIN) from None
            raise DarcError(f"a worker process ended ({problem})") from None

    async def in_thread(
        self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None
    ) -> Any:
        """What a function returns, in a thread of this process."""
        calls, context = _Calls(), contextvars.copy_context()
        context.run(LOOP_HOST.set, calls)
        result: concurrent.futures.Future[Any] = concurrent.futures.Future()
        _inbox().put((result, functools.partial(context.run, function, *arguments)))
        work = asyncio.wrap_future(result)
        try:
            return await asyncio.wait_for(work, seconds)
        except TimeoutError:
            raise WorkTimedOut(f"no answer within {seconds:g} s") from None
        finally:
            calls.end()
            work.cancel()
            work.add_done_callback(_heard)

    async def in_turn(self, owner: Hashable, function: Callable[..., Any], *arguments: Any) -> Any:
        """The same for what keeps this process busy: one at a time."""
        async with self._busy.slot(owner):
            return await self.in_thread(function, *arguments)

    async def warm(self, seconds: float) -> None:
        """Let every process load what it needs, so that the first work need not wait for it."""
        number = max(1, self.processes)
        work = (self.in_process(object(), "warm", seconds=seconds) for _ in range(number))
        await asyncio.gather(*work)

    def close(self, for_good: bool = False) -> None:
        """End everything at once; `for_good` lets nothing begin until this is called again."""
        pool, self._pool, self._ending = self._pool, None, for_good
        if pool is not None:
            pool.stop()
            pool.join()

    def _start(self) -> None:
        from pebble import CONSTS, ProcessPool

        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # A worker that runs the script again; the process that started it says so.
            os._exit(1)
        # They hold nothing that an end could harm, so nobody waits long for them.
        CONSTS.term_timeout = ENDING
        context = multiprocessing.get_context("spawn")
        self._begun = context.Value("b", 0, lock=False)
        options = {"initializer": _begin, "initargs": (self._parts, self._begun)}
        self._pool = ProcessPool(self.processes, **options, context=context)
        with _uninterrupted():
            assert self._pool.active  # which starts it


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes and threads that are started meanwhile hear of no interrupt."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting it changes the mask.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parts: "Parts", begun: Any) -> None:
    """Make the tools of a worker process.

    An interrupt is for the process that started it, and so is the processor when both want it.
    """
    global _TOOLS
    begun.value = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    _TOOLS = parts.tools()


def _work(method: str, arguments: Sequence[Any]) -> Any:
    return getattr(_TOOLS, method)(*arguments)


class _Calls:
    """Remote calls of work in a thread, made in the loop that waits for it; they end with it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock, self._ended = threading.Lock(), False
        self._under_way: set[concurrent.futures.Future[Any]] = set()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """A coroutine's result, for the thread that waits for it."""
        with self._lock:
            if self._ended:
                work.close()
                raise DarcError("nobody waits for this any longer")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._under_way.add(future)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise DarcError("nobody waits for this any longer") from None
        finally:
            self._under_way.discard(future)

    def end(self) -> None:
        """Cancel what is under way, and let no other call begin."""
        with self._lock:
            self._ended = True
            under_way = list(self._under_way)
        for future in under_way:
            future.cancel()


Inbox = queue.SimpleQueue[tuple[concurrent.futures.Future[Any], Callable[[], Any]]]
# Of threads that have nothing to do. They keep no process from ending.
_IDLE: list[Inbox] = []
if hasattr(os, "register_at_fork"):
    # A process that is forked has none of the threads.
    os.register_at_fork(after_in_child=_IDLE.clear)


def _inbox() -> Inbox:
    try:
        return _IDLE.pop()
    except IndexError:
        inbox: Inbox = queue.SimpleQueue()
        threading.Thread(target=_serve, args=[inbox], name="darc-work", daemon=True).start()
        return inbox


def _serve(inbox: Inbox) -> None:
    while True:
        result, call = inbox.get()
        if result.set_running_or_notify_cancel():
            try:
                result.set_result(call())
            except BaseException as problem:
                result.set_exception(problem)
        del result, call
        _IDLE.append(inbox)


def _heard(work: "asyncio.Future[Any]") -> None:
    """Nobody waits for this any longer; a failure is no news."""
    if not work.cancelled() and work.exception() is not None:
        logger.debug("abandoned work failed: %s", work.exception())
