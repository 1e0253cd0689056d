"""Who runs, who counts and who asked for the calls that are made on behalf of something larger.

They are context variables: a service sets them for one of its requests, and every call made in that
context, in threads that were given it too, runs in the service's own loop and is told to its meter.
"""

import asyncio
import math
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import wait
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard, TypeVar

from darc.models.remote.problems import OverLimit

Result = TypeVar("Result")


class Host(Protocol):
    """Runs coroutines for threads that wait for them."""

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The coroutine's result."""
        ...


class Meter:
    """Counts calls and tokens, and refuses calls beyond `max_calls` or `max_tokens`.

    Every attempt is a call, failed ones and retries too. Tokens are those that servers report, so
    what is under way when their limit is reached may go beyond it. A meter with a `whole` counts
    for that one as well, whose limits hold for all its parts together.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        whole: "Meter | None" = None,
    ) -> None:
        self.max_calls, self.max_tokens, self.whole = max_calls, max_tokens, whole
        self.calls = self.tokens = 0
        self.usage: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def limited(self) -> bool:
        """Whether it may refuse calls."""
        own = self.max_calls is not None or self.max_tokens is not None
        return own or (self.whole is not None and self.whole.limited)

    def begin(self, url: str) -> None:
        """Count a call that begins; raises `OverLimit` instead where it is one too many."""
        with self._lock:
            for name, used, most in (
                ("calls", self.calls, self.max_calls),
                ("tokens", self.tokens, self.max_tokens),
            ):
                if most is not None and used >= most:
                    raise OverLimit(
                        f"{url} is not called: the request has used its {most} {name}",
                        f"raise max_{name}, or ask for less",
                    )
            if self.whole is not None:
                self.whole.begin(url)
            self.calls += 1

    def add(self, answer: Any) -> None:
        """Add the usage that an answer reports, if it does."""
        used = answer.get("usage") if isinstance(answer, Mapping) else None
        if not isinstance(used, Mapping):
            return
        with self._lock:
            self.usage = added(self.usage, used)
            self.tokens += tokens_in(used)
        if self.whole is not None:
            self.whole.add(answer)


@dataclass(frozen=True)
class Caller:
    """The model that a request names, empty where it names none, and headers that go with it.

    They are meant for the server at `url`, and for no other.
    """

    url: str
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)


CALLER: ContextVar[Caller | None] = ContextVar("darc_caller", default=None)
HOST: ContextVar[Host | None] = ContextVar("darc_host", default=None)
METER: ContextVar[Meter | None] = ContextVar("darc_meter", default=None)


def begin_call(url: str) -> None:
    """Tell the meter in scope, if any, that a call begins; it may raise `OverLimit`."""
    meter = METER.get()
    if meter is not None:
        meter.begin(url)


def count_usage(answer: Any) -> None:
    """Tell the meter in scope, if any, of an answer."""
    meter = METER.get()
    if meter is not None:
        meter.add(answer)


def added(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """The sum of two usages, number by number; what is no number in both is the later one's."""
    result = dict(left)
    for name, value in right.items():
        known = result.get(name)
        if isinstance(value, Mapping):
            result[name] = added(known if isinstance(known, Mapping) else {}, value)
        elif _is_number(value) and _is_number(known):
            result[name] = known + value
        elif value is not None or name not in result:
            result[name] = value
    return result


def tokens_in(usage: Mapping[str, Any]) -> int:
    """The tokens of a usage: its total, or else the sum of its prompt's and completion's."""
    total = usage.get("total_tokens")
    names = ("total_tokens",) if _is_number(total) else ("prompt_tokens", "completion_tokens")
    found = (usage.get(name) for name in names)
    return sum(max(0, int(each)) for each in found if _is_number(each) and math.isfinite(each))


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
