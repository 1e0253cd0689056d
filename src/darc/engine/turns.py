"""Places for work, given to those who wait in turn."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Turns:
    """At most `slots` pieces of work at a time; owners that wait are served one after the other.

    However much one owner has waiting, another waits for at most one piece of each owner before
    its own. `slot(owner)` gives the number of a free slot, from 0.
    """

    def __init__(self, slots: int) -> None:
        self._free = list(range(slots))[::-1]
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[int]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many pieces of work wait."""
        return sum(len(queue) for queue in self._waiting.values())

    @asynccontextmanager
    async def slot(self, owner: Hashable) -> AsyncIterator[int]:
        """A slot's number, for as long as the block lasts."""
        number = await self._taken(owner)
        try:
            yield number
        finally:
            self._give(number)

    async def _taken(self, owner: Hashable) -> int:
        if self._free and not self._waiting:
            return self._free.pop()
        place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(place)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._give(place.result())
            else:
                self._forget(owner, place)
            raise

    def _give(self, number: int) -> None:
        """Hand a slot to the next owner in turn, or keep it free."""
        while self._waiting:
            owner, queue = next(iter(self._waiting.items()))
            place = queue.popleft()
            if queue:
                self._waiting.move_to_end(owner)
            else:
                del self._waiting[owner]
            if not place.done():
                place.set_result(number)
                return
        self._free.append(number)

    def _forget(self, owner: Hashable, place: "asyncio.Future[int]") -> None:
        queue = self._waiting.get(owner)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._waiting[owner]
