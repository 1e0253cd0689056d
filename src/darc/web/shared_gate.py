"""A limit on how many requests run at a time and how many wait, over several processes."""

import asyncio
from contextlib import suppress
from pathlib import Path

from darc.web.problems import too_many_requests
from darc.web.shared_table import SharedTable

# How often a request that waits looks whether another process has ended one.
_POLL_SECONDS = 0.005


class SharedGate:
    """As `RequestGate`, with numbers in a file that all processes map.

    In each process requests run in the order in which they came. A request does not overtake those
    that wait in another process.

    Attributes:
        running: How many requests of this process run now.
        waiting: How many requests of this process wait now.
    """

    def __init__(
        self, path: Path, processes: int, place: int, max_running: int, max_waiting: int
    ) -> None:
        """Map the file, which is made if it does not exist.

        Args:
            path: The file.
            processes: The number of processes.
            place: Which of them this is, from 0.
            max_running: How many requests may run at a time, in all processes.
            max_waiting: How many more may wait. Further ones are refused with status 429.
        """
        self.running = 0
        self.waiting = 0
        self._table = SharedTable(path, [("running", "u4"), ("waiting", "u4")], processes)
        self._place = place
        self._max_running = max_running
        self._max_waiting = max_waiting
        # Whose turn it is to wait for a place.
        self._turn = asyncio.Lock()
        self._ended = asyncio.Event()

    async def __aenter__(self) -> None:
        if self._enter_at_once():
            return
        try:
            async with self._turn:
                while not self._enter_from_queue():
                    self._ended.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_POLL_SECONDS):
                            await self._ended.wait()
        except BaseException:
            self._change(0, -1)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._change(-1, 0)
        self._ended.set()

    def forget_process(self, place: int) -> None:
        """Forget the requests of a process that has ended."""
        with self._table.locked() as rows:
            rows[place] = (0, 0)

    def _enter_at_once(self) -> bool:
        """Run if there is a place and nobody waits for it, otherwise wait.

        Raises:
            Problem: With status 429 if there is no room to wait either.
        """
        with self._table.locked() as rows:
            waiting = int(rows["waiting"].sum())
            is_free = int(rows["running"].sum()) < self._max_running
            if not (is_free and waiting == 0):
                if waiting >= self._max_waiting and not is_free:
                    message = "the server is busy and its queue is full"
                    raise too_many_requests(message, "queue_full", 1.0)
                self.waiting += 1
                rows[self._place]["waiting"] = self.waiting
                return False
            self.running += 1
            rows[self._place]["running"] = self.running
            return True

    def _enter_from_queue(self) -> bool:
        with self._table.locked() as rows:
            if int(rows["running"].sum()) >= self._max_running:
                return False
            self.running += 1
            self.waiting -= 1
            rows[self._place] = (self.running, self.waiting)
            return True

    def _change(self, running: int, waiting: int) -> None:
        with self._table.locked() as rows:
            self.running += running
            self.waiting += waiting
            rows[self._place] = (self.running, self.waiting)
