"""Places for work, given to those who wait: whoever has had least so far comes first."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")
Who = Callable[[], Hashable]
# Owners whose share is remembered; the one not heard of for longest is forgotten first.
REMEMBERED = 1000


class Waiting(Generic[Item]):
    """Items that wait, by owner; the first is of the owner that has had least so far.

    Owners that have had the same take turns, so that one with little to do need not wait for all
    that one with much to do has waiting.
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
        owner = min(self._queues, key=lambda each: self._had.get(each, 0.0))
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
    """At most `slots` pieces of work at a time; of those who wait, who has had least time is next.

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
            entry = min(self._waiting, key=lambda each: self._had.get(each[0](), 0.0))
            self._waiting.remove(entry)
            if not entry[1].done():
                entry[1].set_result(number)
                return
        self._free.append(number)


def remember(had: "OrderedDict[Hashable, float]", owner: Hashable, amount: float) -> None:
    """Add to what an owner has had."""
    had[owner] = had.pop(owner, 0.0) + amount
    if len(had) > REMEMBERED:
        had.popitem(last=False)
