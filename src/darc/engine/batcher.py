"""Gathers the items of many callers into batches, so that a model is called with full batches."""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from darc.engine.scheduling import FairScheduler, UsageShares

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(eq=False)
class _PendingItem(Generic[Item, Result]):
    """An item that somebody waits for."""

    owner: Hashable
    item: Item
    #: Resolved with the item's result.
    future: "asyncio.Future[Result]"
    #: The context of the caller.
    context: contextvars.Context


def _weigh_one(item: object) -> int:
    return 1


class Batcher(Generic[Item, Result]):
    """Processes items of any number of callers in batches.

    Callers wait in `process` for their own items. A batch is put together when the scheduler has
    a slot for it; items that arrive while all slots are taken wait for the next batch. The owner
    with the least weight so far comes first, and equal owners take turns. If a batch fails, each
    owner's items are processed again alone, so that the items of one owner cannot fail another's.

    Args:
        process_batch: Processes a batch and returns one result per item. It runs in the context of
            the caller of the first item.
        max_items: How many items a batch has at most.
        scheduler: Limits how many batches run at a time; by default one.
        item_weight: The weight of an item, such as its number of characters.
        max_weight: The largest weight of a batch, unless a single item is heavier.
        cancellable: Whether to cancel a batch when nobody waits for any of its items.
    """

    def __init__(
        self,
        process_batch: Callable[[list[Item]], Coroutine[Any, Any, Any]],
        *,
        max_items: int = 16,
        scheduler: FairScheduler | None = None,
        item_weight: Callable[[Item], int] = _weigh_one,
        max_weight: int = 1_000_000_000,
        cancellable: bool = False,
    ) -> None:
        self._process_batch = process_batch
        self._max_items = max_items
        self._scheduler = scheduler or FairScheduler(1)
        self._item_weight = item_weight
        self._max_weight = max_weight
        self._cancellable = cancellable
        self._pending: dict[Hashable, deque[_PendingItem[Item, Result]]] = {}
        self._weights = UsageShares()
        self._runners: set[asyncio.Task[None]] = set()

    async def process(self, items: Sequence[Item], owner: Hashable) -> list[Result]:
        """Wait for the results of some items.

        Args:
            items: The items.
            owner: The request that they belong to.

        Returns:
            One result per item, in their order.
        """
        futures = self._enqueue(items, owner)
        self._start_runners()
        try:
            return list(await asyncio.gather(*futures))
        finally:
            for future in futures:
                future.cancel()
                # `gather` raised the first failure; the others must be looked at too, or asyncio
                # complains that they were never retrieved.
                if future.done() and not future.cancelled():
                    future.exception()

    async def aclose(self) -> None:
        """Cancel the batches that are running."""
        runners = list(self._runners)
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        self._runners.clear()

    def _enqueue(self, items: Sequence[Item], owner: Hashable) -> list["asyncio.Future[Result]"]:
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in items]
        context = contextvars.copy_context()
        if items:
            queue = self._pending.setdefault(owner, deque())
            for item, future in zip(items, futures, strict=True):
                queue.append(_PendingItem(owner, item, future, context))
        return futures

    def _start_runners(self) -> None:
        """Start as many runners as there are batches to run, and slots to run them in."""
        pending_items = sum(len(queue) for queue in self._pending.values())
        batches = -(-pending_items // self._max_items)
        while len(self._runners) < min(self._scheduler.slots, batches):
            # A runner serves everybody, so it does not run in the context of one caller.
            runner = asyncio.get_running_loop().create_task(
                self._run_batches(), context=contextvars.Context()
            )
            self._runners.add(runner)

    async def _run_batches(self) -> None:
        """Run one batch after another until no item is pending."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(0)
            while self._pending:
                async with self._scheduler.slot_for(self._next_owner):
                    started = loop.time()
                    batch = self._take_batch()
                    await self._run_batch(batch)
                    self._charge(batch, loop.time() - started)
        finally:
            # Not in a callback, which would run later: whoever calls `process` in between has to
            # see that this runner no longer serves anybody.
            self._runners.discard(asyncio.current_task())

    def _charge(self, batch: Sequence[_PendingItem[Item, Result]], seconds: float) -> None:
        """Charge the time of a batch to the owners of its items, by their weights."""
        total = sum(self._item_weight(pending.item) for pending in batch) or 1
        for pending in batch:
            share = self._item_weight(pending.item) / total
            self._scheduler.usage.charge(pending.owner, share * seconds)

    def _next_owner(self) -> Hashable:
        return min(self._pending, key=self._weights.__getitem__, default=None)

    def _take_batch(self) -> list[_PendingItem[Item, Result]]:
        """Take the items of the next batch, one owner after another."""
        batch: list[_PendingItem[Item, Result]] = []
        batch_weight = 0
        while self._pending and len(batch) < self._max_items:
            owner = self._next_owner()
            queue = self._pending[owner]
            if not queue[0].future.done():
                weight = self._item_weight(queue[0].item)
                if batch and batch_weight + weight > self._max_weight:
                    break
                batch_weight += weight
                batch.append(queue[0])
                self._weights.charge(owner, weight)
            queue.popleft()
            # Reinserting the queue puts its owner behind others of equal weight.
            del self._pending[owner]
            if queue:
                self._pending[owner] = queue
        return batch

    async def _run_batch(self, batch: Sequence[_PendingItem[Item, Result]]) -> None:
        """Process a batch, and tell everybody who still waits what became of their items."""
        batch = [pending for pending in batch if not pending.future.done()]
        if not batch:
            return
        call = await self._call_for(batch)
        if call.cancelled():
            for pending in batch:
                pending.future.cancel()
            return
        problem = call.exception()
        if problem is None and len(call.result()) != len(batch):
            problem = ValueError(f"{len(call.result())} results for {len(batch)} items")
        if problem is None:
            for pending, result in zip(batch, call.result(), strict=True):
                if not pending.future.done():
                    pending.future.set_result(result)
            return
        owners = dict.fromkeys(pending.owner for pending in batch)
        if len(owners) > 1:
            for owner in owners:
                await self._run_batch([pending for pending in batch if pending.owner == owner])
        for pending in batch:
            if not pending.future.done():
                pending.future.set_exception(problem)

    async def _call_for(
        self, batch: Sequence[_PendingItem[Item, Result]]
    ) -> "asyncio.Task[Sequence[Result]]":
        """Call `process_batch` and wait until the call has ended in one way or another."""
        items = [pending.item for pending in batch]
        call = asyncio.get_running_loop().create_task(
            self._process_batch(items), context=batch[0].context.copy()
        )
        if self._cancellable:
            futures = [pending.future for pending in batch]
            all_done = asyncio.gather(*futures, return_exceptions=True)
            all_done.add_done_callback(lambda _: call.cancel())
        try:
            await asyncio.wait([call])
        finally:
            call.cancel()
        return call
