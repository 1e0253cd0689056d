"""Chat models on any server that speaks OpenAI's chat completions."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import wait
from typing import Any, TypeVar

from darc.closing import Closing
from darc.models.completion import Completion, Report, Request, counter
from darc.models.remote.client import AsyncClient, together
from darc.models.remote.endpoints import CHAT, parse_address
from darc.models.remote.problems import Refused
from darc.models.remote.protocol import (
    CALLER,
    HOST,
    DrawnChoice,
    adapted,
    chat_body,
    listed,
    read_choices,
    samples,
    unknown_field,
)

Result = TypeVar("Result")
Finish = Callable[[], Coroutine[Any, Any, None]]

# Stands for the model that the request in scope names, asked with its headers.
NAMED = "*"
HEARING = 0.2


class Background(Closing):
    """Runs coroutines for synchronous callers, from any number of threads.

    The thread starts with the first of them. `finish` runs in the loop before it ends: at `close`,
    when the object is collected, or as the interpreter exits. In the scope of a host it is the host
    that runs them, in its own loop: a background is used inside a host or outside, never both.
    """

    def __init__(self, finish: Finish) -> None:
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
            host.run(self._finish())
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


def _serve(loop: asyncio.AbstractEventLoop, finish: Finish) -> None:
    """Run the loop until it is stopped, and leave nothing open.

    Not an `asyncio.Runner`, which would wait for the threads of parts that are busy.
    """

    async def wind_up() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await finish()

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(wind_up())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Stop the loop; a collector that runs in the loop's own thread does not wait for it."""
    loop.call_soon_threadsafe(loop.stop)
    if threading.current_thread() is not thread:
        thread.join()


class OpenAIModel(Background):
    """The model of a MODEL@URL; what the server turns out not to understand is not sent again.

    `lacks` are such fields: n, logprobs, max_tokens. The `options` (concurrency, time-outs,
    retries) are those of `AsyncClient`, unless there is a `client`.

    `complete` is for callers without an event loop: the model has one in a thread of its own, may
    be used from several threads, and an interrupt cancels the calls under way.
    """

    remote = True

    def __init__(
        self, address: str, *, n: bool = True, client: AsyncClient | None = None, **options: Any
    ) -> None:
        self.name, self.url = parse_address(address)
        self.version = f"{self.name}@{self.url}"
        self.lacks: frozenset[str] = frozenset() if n else frozenset({"n"})
        self.client = client or AsyncClient(self.url, **options)
        super().__init__(self.client.aclose)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.version!r})"

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""
        return self.run(self.complete_async(requests, report))

    async def choices(self, body: Mapping[str, Any]) -> list[Completion]:
        """At least one answer to a body, from one call that succeeded.

        Log-probabilities are left out, and the token limit is called by its newer name, where an
        error of the server names them.
        """
        lacks, headers = self.lacks, None
        caller = CALLER.get()
        if self.name == NAMED and caller is not None and caller.url == self.url:
            others = {name: value for name, value in body.items() if name != "model"}
            body = {"model": caller.model, **others} if caller.model else others
            headers = caller.headers
        while True:
            try:
                sent = adapted(body, lacks)
                found = await self.client.ask(CHAT, read_choices, sent, headers)
                break
            except Refused as refused:
                field = unknown_field(refused, lacks)
                if not field:
                    raise
                lacks |= {field}
        self.lacks |= lacks
        return found

    async def models(self) -> list[str]:
        """The names of the models that the server lists."""
        return [str(one["id"]) for one in await self.client.ask("/models", listed)]

    async def complete_async(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """`complete`, awaited: all at once within the bound."""
        tell = counter(report, len(requests))

        async def one(request: Request) -> Completion:
            found = (await self.choices(chat_body(self.name, request)))[0]
            tell(found)
            return found

        return await together([one(request) for request in requests])

    async def sample(
        self,
        requests: Sequence[Request],
        seeds: Sequence[Sequence[int]],
        report: Report | None = None,
    ) -> list[list[DrawnChoice[Completion]]]:
        """As many answers to each request as it has seeds; see `samples`."""
        tell = counter(report, sum(len(own) for own in seeds))

        async def all_of(request: Request, own: Sequence[int]) -> list[DrawnChoice[Completion]]:
            found = await samples(
                self.choices,
                chat_body(self.name, request),
                own,
                same=lambda one: one.text,
                several="n" not in self.lacks,
                arrived=tell,
            )
            if not found.several:
                self.lacks |= {"n"}
            return found.drawn

        pairs = zip(requests, seeds, strict=True)
        return await together([all_of(request, own) for request, own in pairs])

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self.client.aclose()
