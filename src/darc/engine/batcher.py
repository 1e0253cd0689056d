"""What many prompts ask of one part, gathered into full calls."""

import asyncio
import contextvars
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Call = Callable[[list[Any], Hashable], Awaitable[Any]]


class Batcher(Generic[Item, Result]):
    """Gathers items of any number of callers into calls of at most `size` items.

    `call(items, owner)` answers a batch, one result an item; at most `calls` of them run at a time,
    and what arrives meanwhile waits for the next. A call that is not full waits `wait` seconds for
    more. Items are taken from the owners in turn, and a batch is not heavier than `most` (by
    `weigh`) unless one item alone is. A call that fails is made again for each owner alone, so that
    one owner's item does not fail another's.
    """

    def __init__(
        self,
        call: Call,
        *,
        size: int = 16,
        calls: int = 1,
        wait: float = 0.0,
        weigh: Callable[[Item], int] = lambda item: 1,
        most: int = 1_000_000_000,
    ) -> None:
        self._call, self._size, self._calls, self._wait = call, size, calls, wait
        self._weigh, self._most = weigh, most
        self._pending: OrderedDict[Hashable, deque[tuple[Item, asyncio.Future[Result]]]] = (
            OrderedDict()
        )
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, items: Sequence[Item], owner: Hashable) -> list[Result]:
        """One result an item, in their order."""
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in items]
        self._pending.setdefault(owner, deque()).extend(zip(items, futures, strict=True))
        self._start()
        try:
            return list(await asyncio.gather(*futures))
        finally:
            for future in futures:
                future.cancel()
                # A failure that came after the first is told by the first.
                if future.done() and not future.cancelled():
                    future.exception()

    async def aclose(self) -> None:
        """End what runs."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _start(self) -> None:
        wanted = -(-sum(map(len, self._pending.values())) // self._size)
        while len(self._running) < min(self._calls, wanted):
            # Not in the caller's context: a batch belongs to all whose items it holds.
            task = asyncio.get_running_loop().create_task(
                self._serve(), context=contextvars.Context()
            )
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _serve(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            await asyncio.sleep(self._wait)
            while batch := self._take():
                await self._answer(batch)
        finally:
            # At once, not when it is done: what is asked in between would find it still running.
            self._running.discard(task)

    def _take(self) -> list[tuple[Hashable, Item, "asyncio.Future[Result]"]]:
        batch: list[tuple[Hashable, Item, asyncio.Future[Result]]] = []
        weight = 0
        while self._pending and len(batch) < self._size:
            owner, queue = next(iter(self._pending.items()))
            item, future = queue[0]
            if not future.done():
                weight += self._weigh(item)
                if batch and weight > self._most:
                    break
                batch.append((owner, item, future))
            queue.popleft()
            if queue:
                self._pending.move_to_end(owner)
            else:
                del self._pending[owner]
        return batch

    async def _answer(self, batch: list[tuple[Hashable, Item, "asyncio.Future[Result]"]]) -> None:
        owners = list(dict.fromkeys(owner for owner, _, _ in batch))
        try:
            results = await self._call([item for _, item, _ in batch], owners[0])
            for (_, _, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
        except Exception as problem:
            if len(owners) == 1:
                for _, _, future in batch:
                    if not future.done():
                        future.set_exception(problem)
                return
            for own in owners:
                await self._answer([each for each in batch if each[0] == own])
