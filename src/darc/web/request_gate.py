"""A limit on how many requests run at a time and how many wait."""

import asyncio

from darc.web.problems import too_many_requests


class RequestGate:
    """An async context manager that a request holds while it runs.

    Attributes:
        running: How many requests run now.
        waiting: How many requests wait now.
    """

    def __init__(self, max_running: int, max_waiting: int) -> None:
        """Make a gate.

        Args:
            max_running: How many requests may run at a time.
            max_waiting: How many more may wait. Further ones are refused with status 429.
        """
        self.running = 0
        self.waiting = 0
        self._max_waiting = max_waiting
        self._slots = asyncio.Semaphore(max_running)

    async def __aenter__(self) -> None:
        if self._slots.locked() and self.waiting >= self._max_waiting:
            raise too_many_requests("the server is busy and its queue is full", "queue_full", 1.0)
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.running += 1

    async def __aexit__(self, *_: object) -> None:
        self.running -= 1
        self._slots.release()
