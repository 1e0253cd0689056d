"""Fair turns: requests that have used little go first, so that a long one cannot starve others."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

# How many owners are remembered; the one not seen for longest is forgotten first.
_MAX_OWNERS = 1000
# A rough estimate of how long rewriting and scoring one character takes.
_SECONDS_PER_CHARACTER = 3e-6


@dataclass(frozen=True, eq=False)
class RequestOwner:
    """The request that a job belongs to; two requests are never equal."""

    #: How many characters the whole request has to process, as far as that is known.
    characters: int = 0


class UsageShares(OrderedDict[Hashable, float]):
    """How much each owner has used, plus what its whole request is expected to use.

    Args:
        per_character: The expected usage per character of a `RequestOwner`.
    """

    def __init__(self, per_character: float = 1.0) -> None:
        super().__init__()
        self._per_character = per_character

    def __missing__(self, owner: Hashable) -> float:
        """Start an owner that has used nothing with its expected usage."""
        self.charge(owner, 0.0)
        return self[owner]

    def charge(self, owner: Hashable, amount: float) -> None:
        """Add an amount to what an owner has used."""
        expected = 0.0
        if isinstance(owner, RequestOwner):
            expected = self._per_character * owner.characters
        # Removing the entry first moves the owner to the end, as the one seen last.
        used = self.pop(owner, expected)
        self[owner] = used + amount
        if len(self) > _MAX_OWNERS:
            self.popitem(last=False)


@dataclass(eq=False)
class _Waiter:
    """Somebody who waits for a slot."""

    #: Whose turn it is, asked when a slot becomes free.
    find_owner: Callable[[], Hashable]
    #: Resolved when the waiter has the slot.
    slot: "asyncio.Future[None]"


class FairScheduler:
    """Lets at most `slots` jobs run at a time; the waiting owner with the least usage is next.

    Usage is counted in seconds: the time that an owner has had, plus what its whole request is
    expected to take.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.usage = UsageShares(_SECONDS_PER_CHARACTER)
        self._free_slots = slots
        self._waiters: list[_Waiter] = []

    @asynccontextmanager
    async def slot(self, owner: Hashable) -> AsyncIterator[None]:
        """Hold a slot for as long as the block lasts, and charge the time to the owner."""
        loop = asyncio.get_running_loop()
        async with self.slot_for(lambda: owner):
            started = loop.time()
            try:
                yield
            finally:
                self.usage.charge(owner, loop.time() - started)

    @asynccontextmanager
    async def slot_for(self, find_owner: Callable[[], Hashable]) -> AsyncIterator[None]:
        """Hold a slot whose owner is decided only when it becomes free.

        The caller charges `usage` itself, because the job may serve several owners.
        """
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._free_slots:
            self._free_slots -= 1
            slot.set_result(None)
        else:
            self._waiters.append(_Waiter(find_owner, slot))
        try:
            await slot
            yield
        finally:
            if slot.done() and not slot.cancelled():
                self._release_slot()

    def _release_slot(self) -> None:
        """Hand the slot to the next owner that still waits, or keep it free."""
        while self._waiters:
            usages = [self.usage[waiter.find_owner()] for waiter in self._waiters]
            waiter = self._waiters.pop(usages.index(min(usages)))
            if not waiter.slot.done():
                waiter.slot.set_result(None)
                return
        self._free_slots += 1
