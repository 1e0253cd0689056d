"""The database that holds the rows of files, and spills to disk."""

import secrets
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from darc.closing import Closing
from darc.errors import DarcError

MEMORY_MB = 400


class Database(Closing):
    """A database in memory, beyond `memory_mb` in the temporary folder."""

    def __init__(self, memory_mb: int = MEMORY_MB) -> None:
        # Deferred: it takes a tenth of a second, and `import darc` does not need it.
        import duckdb

        self.failure = duckdb.Error
        self._resources = ExitStack()
        settings: dict[str, Any] = {
            "memory_limit": f"{memory_mb}MB",
            "temp_directory": str(Path(tempfile.gettempdir()) / f"darc-{secrets.token_hex(8)}"),
            "threads": 2,
            "autoinstall_known_extensions": False,
        }
        self._db = self._resources.enter_context(duckdb.connect(config=settings))
        self._pool = self._resources.enter_context(ThreadPoolExecutor(1))
        # A notebook without ipywidgets refuses this: progress is then not known.
        with suppress(duckdb.Error):
            self._db.execute(
                "SET enable_progress_bar = true; SET enable_progress_bar_print = false"
            )

    def run(self, sql: str, share: Callable[[float], None] = lambda done: None) -> Any:
        """The answer to some SQL; `share` hears how much of the work is done.

        The work is done beside this thread, which so hears of an interrupt.
        """
        work = self._pool.submit(self._db.execute, sql)
        try:
            while not wait([work], 0.2).done:
                share(max(0.0, self._db.query_progress()) / 100)
            return work.result()
        except self.failure as problem:
            said = str(problem)
            if "Out of Memory" in said or ("IO Error" in said and "darc-" in said):
                raise _no_room(said.splitlines()[0]) from None
            raise
        except BaseException:
            self._db.interrupt()
            wait([work])
            raise

    def arrays(self, sql: str) -> dict[str, Any]:
        """The answer to some SQL as columns."""
        return dict(self.run(sql).fetchnumpy())

    def row(self, sql: str) -> tuple[Any, ...]:
        """The first row of the answer to some SQL."""
        return tuple(self.run(sql).fetchone() or ())

    def words(self, sql: str) -> list[str]:
        """The first column of the answer to some SQL."""
        return [word for (word,) in self.run(sql).fetchall()]

    def insert(self, table: str, columns: Mapping[str, Any], *, new: bool = False) -> None:
        """Add arrays to the columns of their names, in a `new` table or in one that is there."""
        self._db.register("block", dict(columns))
        into = f"CREATE TABLE {table} AS" if new else f"INSERT INTO {table} BY NAME"
        self.run(f"{into} SELECT * FROM block")

    def spare(self) -> Path:
        """The path of a file that is removed with the rest."""
        try:
            folder = self._resources.enter_context(tempfile.TemporaryDirectory(prefix="darc-"))
        except OSError as problem:
            raise _no_room(problem.strerror) from None
        return Path(folder) / "copy"

    def close(self) -> None:
        """Forget everything."""
        self._resources.close()


def quoted(text: object) -> str:
    """Some text as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def _no_room(reason: str | None) -> DarcError:
    return DarcError(
        f"cannot keep temporary data in {tempfile.gettempdir()} ({reason})",
        "set TMPDIR to a folder with room",
    )
