"""What many prompts ask of one part: whose turn it is, and calls that are full."""

import asyncio
import contextvars
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Call = Callable[[list[Any], Hashable], Coroutine[Any, Any, Any]]
Who = Callable[[], Hashable]
# Owners whose share is remembered; the one not heard of for longest is forgotten first.
REMEMBERED = 1000
# What rewriting and scoring a character takes, roughly.
SECONDS_PER_CHARACTER = 3e-6


@dataclass(frozen=True, eq=False)
class Owner:
    """Whose work it is, of how many characters in all, as far as that is known."""

    characters: int = 0


def expected(owner: Hashable) -> int:
    """The characters that an owner's work is about."""
    return owner.characters if isinstance(owner, Owner) else 0


class Waiting(Generic[Item]):
    """Items that wait, by owner; the first is of the owner with least so far and expected in all.

    Owners with the same take turns, so that one with little to do need not wait for all that those
    with much to do have waiting, however many they are.
    """

    def __init__(self) -> None:
        self._queues: OrderedDict[Hashable, deque[Item]] = OrderedDict()
        self._had: OrderedDict[Hashable, float] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __bool__(self) -> bool:
        return bool(self._queues)

    def add(self, owner: Hashable, items: Iterable[Item]) -> None:
        """Put items at the end of their owner's."""
        own = self._queues.setdefault(owner, deque())
        own.extend(items)
        if not own:
            del self._queues[owner]

    def first(self) -> tuple[Hashable, Item]:
        """The next item and its owner."""
        owner = min(self._queues, key=lambda each: self._had.get(each, 0.0) + expected(each))
        return owner, self._queues[owner][0]

    def drop(self, owner: Hashable) -> None:
        """Take out an owner's first item."""
        queue = self._queues[owner]
        queue.popleft()
        if queue:
            self._queues.move_to_end(owner)
        else:
            del self._queues[owner]

    def charge(self, owner: Hashable, amount: float) -> None:
        """Remember what an owner has had."""
        remember(self._had, owner, amount)


class Turns:
    """At most `slots` pieces of work at a time; of those who wait, the owner with least is next.

    What counts is the time that an owner has had and what its whole work is expected to take.
    `slot(owner)` gives the number of a free slot, from 0. `slot_for(who)` is for work that belongs
    to whoever `who` names when there is a slot; what it took is told to `charge`.
    """

    def __init__(self, slots: int) -> None:
        self._free = list(range(slots))[::-1]
        self._waiting: list[tuple[Who, asyncio.Future[int]]] = []
        self._had: OrderedDict[Hashable, float] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many pieces of work wait."""
        return len(self._waiting)

    @asynccontextmanager
    async def slot(self, owner: Hashable) -> AsyncIterator[int]:
        """A slot's number, for as long as the block lasts."""
        now = asyncio.get_running_loop().time
        async with self.slot_for(lambda: owner) as number:
            begun = now()
            try:
                yield number
            finally:
                self.charge(owner, now() - begun)

    @asynccontextmanager
    async def slot_for(self, who: Who) -> AsyncIterator[int]:
        """The same, in the turn of the owner that `who` names."""
        number = await self._taken(who)
        try:
            yield number
        finally:
            self._give(number)

    def charge(self, owner: Hashable, seconds: float) -> None:
        """Remember what an owner has had."""
        remember(self._had, owner, seconds)

    async def _taken(self, who: Who) -> int:
        if self._free and not self._waiting:
            return self._free.pop()
        place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        entry = (who, place)
        self._waiting.append(entry)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._give(place.result())
            elif entry in self._waiting:
                self._waiting.remove(entry)
            raise

    def _give(self, number: int) -> None:
        """Hand a slot to the next owner, or keep it free."""
        while self._waiting:
            entry = min(self._waiting, key=self._cost)
            self._waiting.remove(entry)
            if not entry[1].done():
                entry[1].set_result(number)
                return
        self._free.append(number)

    def _cost(self, entry: tuple[Who, "asyncio.Future[int]"]) -> float:
        owner = entry[0]()
        return self._had.get(owner, 0.0) + SECONDS_PER_CHARACTER * expected(owner)


def remember(had: "OrderedDict[Hashable, float]", owner: Hashable, amount: float) -> None:
    """Add to what an owner has had."""
    had[owner] = had.pop(owner, 0.0) + amount
    if len(had) > REMEMBERED:
        had.popitem(last=False)


@dataclass(eq=False)
class _Wish(Generic[Item, Result]):
    """An item that somebody waits for, and the context that they asked in."""

    owner: Hashable
    item: Item
    future: "asyncio.Future[Result]"
    context: contextvars.Context


class Batcher(Generic[Item, Result]):
    """Gathers items of any number of callers into calls of at most `size` items.

    `call(items, owner)` answers a batch, one result an item; at most `calls` of them run at a time,
    and what arrives meanwhile waits for the next. A call that is not full waits `wait` seconds for
    more. The owner that has had least so far (by `weigh`) comes first, and a batch is not heavier
    than `most` unless one item alone is. A call is made in the context of the first whose item it
    holds, and ended when nobody waits for it where `ends` says that it can be. One that fails is
    made again for each owner alone, so that one owner's item does not fail another's. With `turns`
    a batch is put together once it has a slot, and the call is told the slot's number, no owner.
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
        ends: bool = False,
        turns: Turns | None = None,
    ) -> None:
        self._call, self._size, self._calls, self._wait = call, size, calls, wait
        self._weigh, self._most, self._ends, self._turns = weigh, most, ends, turns
        self._pending: Waiting[_Wish[Item, Result]] = Waiting()
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, items: Sequence[Item], owner: Hashable) -> list[Result]:
        """One result an item, in their order."""
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in items]
        context = contextvars.copy_context()
        wishes = zip(items, futures, strict=True)
        self._pending.add(owner, (_Wish(owner, *wish, context) for wish in wishes))
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
        wanted = -(-len(self._pending) // self._size)
        while len(self._running) < min(self._calls, wanted):
            # Not in the caller's context: it serves everybody.
            task = asyncio.get_running_loop().create_task(
                self._serve(), context=contextvars.Context()
            )
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(self._wait)
            if self._turns is None:
                while batch := self._take():
                    await self._answer(batch)
            else:
                await self._serve_in_turn(self._turns)
        finally:
            # At once: whoever asks before callbacks run is to see that nobody serves any longer.
            self._running.discard(asyncio.current_task())

    async def _serve_in_turn(self, turns: Turns) -> None:
        now = asyncio.get_running_loop().time
        while self._pending:
            async with turns.slot_for(self._next_owner) as slot:
                begun, batch = now(), self._take()
                await self._answer(batch, slot)
                weight = sum(self._weigh(wish.item) for wish in batch) or 1
                for wish in batch:
                    share = self._weigh(wish.item) / weight
                    turns.charge(wish.owner, share * (now() - begun))

    def _next_owner(self) -> Hashable:
        return self._pending.first()[0] if self._pending else None

    def _take(self) -> list[_Wish[Item, Result]]:
        batch: list[_Wish[Item, Result]] = []
        weight = 0
        while self._pending and len(batch) < self._size:
            owner, wish = self._pending.first()
            if not wish.future.done():
                own = self._weigh(wish.item)
                if batch and weight + own > self._most:
                    break
                weight += own
                batch.append(wish)
                self._pending.charge(owner, own)
            self._pending.drop(owner)
        return batch

    async def _answer(self, batch: list[_Wish[Item, Result]], slot: int | None = None) -> None:
        batch = [wish for wish in batch if not wish.future.done()]
        if not batch:
            return
        owners = list(dict.fromkeys(wish.owner for wish in batch))
        call = asyncio.get_running_loop().create_task(
            self._call([wish.item for wish in batch], owners[0] if slot is None else slot),
            context=batch[0].context.copy(),
        )
        if self._ends:
            heard = asyncio.gather(*(wish.future for wish in batch), return_exceptions=True)
            heard.add_done_callback(lambda _: call.cancel())
        try:
            await asyncio.wait([call])
        finally:
            call.cancel()
        if call.cancelled():
            for wish in batch:
                wish.future.cancel()
        elif (problem := call.exception() or _miscounted(call.result(), batch)) is None:
            for wish, result in zip(batch, call.result(), strict=True):
                if not wish.future.done():
                    wish.future.set_result(result)
        elif len(owners) == 1:
            for wish in batch:
                if not wish.future.done():
                    wish.future.set_exception(problem)
        else:
            for own in owners:
                await self._answer([wish for wish in batch if wish.owner == own], slot)


def _miscounted(results: Sequence[Any], batch: Sequence[Any]) -> Exception | None:
    if len(results) == len(batch):
        return None
    return ValueError(f"{len(results)} results for {len(batch)} items")
