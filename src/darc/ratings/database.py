"""The database that holds the rows of files and spills to disk."""

import re
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
_POLL_SECONDS = 0.2

#: Called with the share of the work that is done, from 0 to 1.
ShareDone = Callable[[float], None]


def ignore_share(share: float) -> None:
    """Take no notice of how much is done."""


class Database(Closing):
    """A DuckDB database in memory, with what exceeds `memory_mb` in the temporary folder."""

    def __init__(self, memory_mb: int = MEMORY_MB) -> None:
        # Deferred: it takes a tenth of a second, and `import darc` does not need it.
        import duckdb

        #: The class of the errors that `run` raises.
        self.failure = duckdb.Error
        self._resources = ExitStack()
        settings: dict[str, Any] = {
            "memory_limit": f"{memory_mb}MB",
            "temp_directory": str(Path(tempfile.gettempdir()) / f"darc-{secrets.token_hex(8)}"),
            "threads": 2,
            "autoinstall_known_extensions": False,
        }
        self._connection = self._resources.enter_context(duckdb.connect(config=settings))
        self._executor = self._resources.enter_context(ThreadPoolExecutor(1))
        # A notebook without ipywidgets refuses this; progress is then not known.
        with suppress(duckdb.Error):
            self._connection.execute(
                "SET enable_progress_bar = true; SET enable_progress_bar_print = false"
            )

    def run(self, sql: str, share_done: ShareDone = ignore_share) -> Any:
        """Run some SQL in another thread, so that this one notices an interrupt.

        Args:
            sql: What to run.
            share_done: Called now and then with the share of the work that is done.

        Returns:
            The cursor with the result.

        Raises:
            DarcError: There is no room for temporary data.
        """
        query = self._executor.submit(self._connection.execute, sql)
        try:
            while not wait([query], _POLL_SECONDS).done:
                share_done(max(0.0, self._connection.query_progress()) / 100)
            return query.result()
        except self.failure as problem:
            message = str(problem)
            if "Out of Memory" in message:
                raise _out_of_memory() from None
            if "IO Error" in message and "darc-" in message:
                raise _no_room(message.splitlines()[0]) from None
            raise
        except BaseException:
            self._connection.interrupt()
            wait([query])
            raise

    def arrays(self, sql: str) -> dict[str, Any]:
        """The columns of a query's result as numpy arrays, by name."""
        return dict(self.run(sql).fetchnumpy())

    def row(self, sql: str) -> tuple[Any, ...]:
        """The first row of a query's result, empty where there is none."""
        return tuple(self.run(sql).fetchone() or ())

    def words(self, sql: str) -> list[str]:
        """The first column of a query's result."""
        return [word for (word,) in self.run(sql).fetchall()]

    def insert(self, table: str, columns: Mapping[str, Any], *, new: bool = False) -> None:
        """Append arrays to a table, or make a new table of them.

        Args:
            table: The name of the table.
            columns: Arrays of one length by the name of their column.
            new: Whether to make the table.
        """
        self._connection.register("block", dict(columns))
        target = f"INSERT INTO {table} BY NAME"
        if new:
            target = f"CREATE TABLE {table} AS"
        self.run(f"{target} SELECT * FROM block")

    def spare_path(self) -> Path:
        """The path of a new temporary file, which is removed when the database is closed."""
        try:
            folder = self._resources.enter_context(tempfile.TemporaryDirectory(prefix="darc-"))
        except OSError as problem:
            raise _no_room(problem.strerror) from None
        return Path(folder) / "copy"

    def close(self) -> None:
        """Remove everything, with the temporary files."""
        self._resources.close()


def quoted(text: object) -> str:
    """A text as an SQL literal."""
    escaped = str(text).replace("'", "''")
    return f"'{escaped}'"


def quoted_path(path: Path) -> str:
    """A path as an SQL literal that names this file alone.

    The database takes letters such as * for patterns; in brackets they stand for themselves.
    """
    return quoted(re.sub(r"([*?\[])", r"[\1]", str(path.resolve())))


def _out_of_memory() -> DarcError:
    return DarcError(
        f"the ratings do not fit into the {MEMORY_MB} MB that reading may take",
        "a table may have too many columns: give the ratings as one row per rating, with the "
        "columns prompt_id, candidate_id, rater_id and rating",
    )


def _no_room(reason: str | None) -> DarcError:
    return DarcError(
        f"cannot keep temporary data in {tempfile.gettempdir()} ({reason})",
        "set TMPDIR to a folder with room",
    )
