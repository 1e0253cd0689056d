"""A database for the rows of one file, which spills to disk."""

import secrets
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import DarcError, TableError
from darc.registry import Closing

MEMORY_MB = 400
# The first rows, from which columns of numbers are known.
HEAD = 2_000
MISSING = frozenset({"", "na", "nan", "null", "none"})

Share = Callable[[float], None]


class RawRows(Closing):
    """The table `raw` of a file: column i is `c{i}`, all text, and rowid the row's number from 0.

    Columns go by number because the database takes names that differ in case only for equal.
    `absent` has the first row without a field, and `late` the first row and text of a field that
    the first block does not have: only JSON has either. `files` has the first row and the name of
    each file of a folder.
    """

    def __init__(self, source: str, memory_mb: int = MEMORY_MB) -> None:
        # Deferred: it takes a tenth of a second, and `import darc` does not need it.
        import duckdb

        self.source = source
        self.names: tuple[str, ...] = ()
        self.rows = 0
        self.absent: dict[str, int] = {}
        self.late: dict[str, tuple[int, str]] = {}
        self.files: list[tuple[int, str]] = []
        self.failure = duckdb.Error
        self._resources = ExitStack()
        self.line: Callable[[int], int] = lambda row: row + 1
        self._db = self._resources.enter_context(duckdb.connect())
        self._pool = self._resources.enter_context(ThreadPoolExecutor(1))
        spill = Path(tempfile.gettempdir()) / f"darc-{secrets.token_hex(8)}"
        for name, value in {
            "memory_limit": f"'{memory_mb}MB'",
            "temp_directory": quoted(spill),
            "threads": "2",
            "autoinstall_known_extensions": "false",
        }.items():
            self._db.execute(f"SET {name} = {value}")
        # A notebook without ipywidgets refuses this: progress is then not known.
        with suppress(duckdb.Error):
            self._db.execute("SET enable_progress_bar = true")
            self._db.execute("SET enable_progress_bar_print = false")

    def run(self, sql: str, share: Share | None = None) -> Any:
        """The answer to some SQL; `share` hears how much of the work is done.

        The work is done beside this thread, which so hears of an interrupt.
        """
        work = self._pool.submit(self._db.execute, sql)
        try:
            while not wait([work], 0.2).done:
                if share is not None:
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

    def column(self, name: str) -> str:
        """What `raw` calls a column of the file."""
        return f"c{self.names.index(name)}"

    def text(self, name: str) -> str:
        """The SQL for a column's text, empty where there is none."""
        return f"coalesce({self.column(name)}, '')"

    def texts(self, name: str, limit: int | None = None) -> list[str]:
        """The cells of a column, or the first ones, empty where there is none."""
        few = "" if limit is None else f" WHERE rowid < {limit}"
        sql = f"SELECT {self.text(name)} FROM raw{few} ORDER BY rowid"
        return [text for (text,) in self.run(sql).fetchall()]

    def looks_numeric(self, name: str) -> bool:
        """Whether a column seems to hold numbers: most of its first cells, or all are missing."""
        return mostly_numbers(self.texts(name, HEAD))

    def fault(self, row: int, message: str, hint: str = "") -> TableError:
        """The error that says what is wrong with a row."""
        source = next((name for first, name in reversed(self.files) if first <= row), self.source)
        return TableError(source, message, hint, self.line(row))

    def lines(self) -> Sequence[int]:
        """The line of every row."""
        first, rows = self.line(0), range(self.rows)
        if self.line(self.rows - 1) == first + self.rows - 1:
            return range(first, first + self.rows)
        return [self.line(row) for row in rows]

    def close(self) -> None:
        """Forget everything."""
        self._resources.close()

    def name(self, names: Sequence[str], line: int = 1) -> None:
        """Take the names of the columns, which stand on a line."""
        self.names = tuple(name.strip() for name in names)
        named = [name for name in self.names if name]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise TableError(self.source, f"the header names {twice!r} twice", "rename one", line)

    def fill(self, query: str, line: Callable[[int], int], share: Share | None = None) -> None:
        """Make `raw` of a query; `line` says where a row is in the file."""
        self.run(f"CREATE TABLE raw AS {query}", share)
        (self.rows,) = self.row("SELECT count(*) FROM raw")
        self.line = line

    def append(self, lines: Sequence[int], columns: Sequence[Sequence[str]]) -> None:
        """Add rows, given by column, to a `raw` that is made of them alone."""
        block = {f"c{i}": np.array(cells, dtype=object) for i, cells in enumerate(columns)}
        block["line"] = np.array(lines, dtype=np.int64)
        self._db.register("block", block)
        if self.rows:
            self.run("INSERT INTO raw SELECT * FROM block")
        else:
            self.run("CREATE TABLE raw AS SELECT * FROM block")
            self.line = lambda row: int(self.row(f"SELECT line FROM raw WHERE rowid = {row}")[0])
        self.rows += len(lines)

    def spare(self, suffix: str) -> Path:
        """The path of a file that is removed with the rest."""
        try:
            folder = self._resources.enter_context(tempfile.TemporaryDirectory(prefix="darc-"))
        except OSError as problem:
            raise _no_room(problem.strerror) from None
        return Path(folder) / f"copy{suffix}"


def mostly_numbers(texts: Sequence[str]) -> bool:
    """Whether at least half of what is not missing can be read as numbers."""
    verdict = [_is_number(text) for text in texts if text.strip().lower() not in MISSING]
    return 2 * sum(verdict) >= len(verdict)


def quoted(text: object) -> str:
    """Some text as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"


def shorten(text: str, length: int = 40) -> str:
    """`text` in quotation marks, cut where it gets too long for an error message."""
    return repr(text if len(text) <= length else text[: length - 3] + "...")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _no_room(reason: str | None) -> DarcError:
    return DarcError(
        f"cannot keep temporary data in {tempfile.gettempdir()} ({reason})",
        "set TMPDIR to a folder with room",
    )
