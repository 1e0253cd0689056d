"""Limits on what one client may ask for, counted over several processes."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.web.shared_table import SharedTable

_GROUPS = 4096
# Each client has a group by its hash, and in it any of these places.
_GROUP_SIZE = 8


class SharedClientLimits:
    """The limits of a service that is several processes, in a file that all of them map.

    Only the clients seen last are remembered, and those with requests that run.
    """

    def __init__(
        self,
        path: Path,
        processes: int,
        place: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Map the file, which is made if it does not exist.

        Args:
            path: The file.
            processes: The number of processes.
            place: Which of them this is, from 0.
            now: The time, by a clock that all processes share.
        """
        row_type = [
            # A hash of the client's name; 0 for nobody.
            ("client", "u8"),
            # The requests that it may still make, as of some time.
            ("tokens", "f8"),
            ("updated", "f8"),
            # Its requests that run, by process.
            ("active", "u4", (processes,)),
        ]
        self._table = SharedTable(path, row_type, _GROUPS * _GROUP_SIZE)
        self._place = place
        self._now = now

    def count_request(self, client: str, per_minute: float) -> float:
        """Count a request, and return by how many seconds it came too early; 0 if it did not."""
        if per_minute <= 0:
            return 0.0
        with self._table.locked() as rows:
            row = self._row_of(rows, client)
            now = self._now()
            tokens = per_minute
            if row["updated"]:
                tokens = float(row["tokens"]) + (now - float(row["updated"])) * per_minute / 60
            tokens = min(max(1.0, per_minute), tokens)
            row["updated"] = now
            row["tokens"] = tokens
            if tokens < 1:
                return (1 - tokens) * 60 / per_minute
            row["tokens"] = tokens - 1
        return 0.0

    def begin(self, client: str, max_active: int) -> bool:
        """Count a request that begins, unless `max_active` of the client run already (0: any)."""
        with self._table.locked() as rows:
            row = self._row_of(rows, client)
            if max_active and row["active"].sum() >= max_active:
                return False
            row["active"][self._place] += 1
        return True

    def end(self, client: str) -> None:
        """Count the end of a request that had begun."""
        with self._table.locked() as rows:
            row = self._row_of(rows, client)
            if row["active"][self._place]:
                row["active"][self._place] -= 1

    def forget_process(self, place: int) -> None:
        """Forget the running requests of a process that has ended."""
        with self._table.locked() as rows:
            rows["active"][:, place] = 0

    def _row_of(self, rows: NDArray[Any], client: str) -> Any:
        """The row of a client, which may be that of an idle client seen long ago."""
        digest = hashlib.blake2b(client.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = np.uint64(int.from_bytes(digest) or 1)
        first = int(number % _GROUPS) * _GROUP_SIZE
        group = rows[first : first + _GROUP_SIZE]
        matches = np.flatnonzero(group["client"] == number)
        if matches.size:
            return group[matches[0]]
        is_idle = group["active"].sum(axis=1) == 0
        last_seen = np.where(is_idle, group["updated"], np.inf)
        row = group[int(last_seen.argmin())]
        row["client"] = number
        row["tokens"] = 0.0
        row["updated"] = 0.0
        row["active"] = 0
        return row
