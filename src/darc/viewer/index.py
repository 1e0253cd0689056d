"""An index over the decisions of one or two sources, in a temporary file on the disk."""

import json
import sqlite3
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from darc.closing import Closing
from darc.errors import InputError
from darc.viewer.query import Query
from darc.viewer.source import DecisionSource, ListedDecision, ReadProgress
from darc.viewer.words import searchable

# Longer texts are cut in the list.
BEGINNING_LENGTH = 280
# The share of all decisions that the filter "most divided" shows.
_MOST_DIVIDED_SHARE = 0.1
_BATCH_SIZE = 500
_SCHEMA = """
CREATE TABLE decisions (
  number INTEGER PRIMARY KEY, source INTEGER, place INTEGER, prompt_id TEXT, occurrence INTEGER,
  question TEXT, chosen TEXT, answer TEXT, answer_key BLOB, best_of_k TEXT, differs INTEGER,
  mean REAL, disagreement REAL, unhappy INTEGER, ratings INTEGER, held INTEGER, flags TEXT,
  system TEXT, entry INTEGER
);
CREATE TABLE details (number INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE unhappy_groups (name TEXT, number INTEGER);
CREATE VIRTUAL TABLE words USING fts5(text, content = '', detail = 'full');
"""
# One entry of the list: a decision, or the decisions of both sources on the same prompt.
_ENTRIES = """
CREATE UNIQUE INDEX by_prompt ON decisions (source, prompt_id, occurrence);
CREATE TABLE entries AS
SELECT a.number AS first, b.number AS second, a.place AS place FROM decisions a
  LEFT JOIN decisions b ON b.source = 1 AND b.prompt_id = a.prompt_id
    AND b.occurrence = a.occurrence
  WHERE a.source = 0
UNION ALL
SELECT NULL, b.number, b.place FROM decisions b WHERE b.source = 1 AND NOT EXISTS (
  SELECT 1 FROM decisions a WHERE a.source = 0 AND a.prompt_id = b.prompt_id
    AND a.occurrence = b.occurrence);
"""
_LIST = """
CREATE TABLE list AS
SELECT row_number() OVER (ORDER BY e.first IS NULL, e.place) AS number, e.first, e.second,
  coalesce(a.prompt_id, b.prompt_id) AS prompt_id,
  coalesce(a.occurrence, b.occurrence) AS occurrence,
  CASE WHEN e.first IS NULL THEN 'second' WHEN e.second IS NULL THEN 'first'
    WHEN CASE WHEN a.answer != '' AND b.answer != '' THEN a.answer_key = b.answer_key
      ELSE a.chosen = b.chosen END THEN 'same' ELSE 'changed' END AS change,
  max(coalesce(a.differs, 0), coalesce(b.differs, 0)) AS differs,
  max(coalesce(a.held, 0), coalesce(b.held, 0)) AS held,
  (coalesce(a.flags, '') != '' OR coalesce(b.flags, '') != '') AS flagged,
  max(coalesce(a.disagreement, b.disagreement), coalesce(b.disagreement, a.disagreement))
    AS disagreement,
  min(coalesce(a.mean, b.mean), coalesce(b.mean, a.mean)) AS mean,
  max(coalesce(1.0 * a.unhappy / a.ratings, 1.0 * b.unhappy / b.ratings),
    coalesce(1.0 * b.unhappy / b.ratings, 1.0 * a.unhappy / a.ratings)) AS unhappy_share,
  b.mean - a.mean AS mean_change, 0 AS divided
FROM entries e LEFT JOIN decisions a ON a.number = e.first
  LEFT JOIN decisions b ON b.number = e.second;
DROP TABLE entries;
CREATE INDEX list_by_first ON list (first);
CREATE INDEX list_by_second ON list (second);
UPDATE decisions SET entry = coalesce(
  (SELECT list.number FROM list WHERE list.first = decisions.number),
  (SELECT list.number FROM list WHERE list.second = decisions.number));
CREATE TABLE names AS
  SELECT DISTINCT 'system' AS kind, system AS name FROM decisions WHERE system != ''
  UNION ALL SELECT DISTINCT 'group', name FROM unhappy_groups;
CREATE UNIQUE INDEX list_by_number ON list (number);
CREATE INDEX list_by_disagreement ON list (disagreement DESC, number);
CREATE INDEX list_by_mean ON list (mean, number);
CREATE INDEX list_by_unhappy ON list (unhappy_share DESC, number);
CREATE INDEX list_by_change ON list (mean_change, number);
CREATE INDEX systems ON decisions (system, number);
CREATE INDEX entry_of_decision ON decisions (number, entry);
"""


class DecisionIndex(Closing):
    """Lists, filters and searches the decisions of one or two sources.

    It owns a temporary file: use it as a context manager. It may be read from any thread.
    """

    def __init__(self, sources: Sequence[DecisionSource], path: Path) -> None:
        """Open an index that `build` has written."""
        self.sources = list(sources)
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._cached_count = lru_cache(maxsize=200)(self._count)
        self.total = int(self.rows("SELECT count(*) AS n FROM list")[0]["n"])

    @property
    def compares(self) -> bool:
        """Whether two sources are compared."""
        return len(self.sources) == 2

    def count(self, query: Query) -> int:
        """How many entries of the list a query finds."""
        return self._cached_count(query)

    def forget_counts(self) -> None:
        """Count anew from now on."""
        self._cached_count.cache_clear()

    def entries(self, query: Query, offset: int = 0, limit: int = 50) -> list[dict[str, Any]]:
        """Some entries of the list.

        Args:
            query: Which ones, in which order.
            offset: How many are skipped.
            limit: How many are wanted at most.

        Returns:
            One dict per entry: `number`, `prompt_id`, `change`, and the rows of its decisions,
            `first` and `second`, None where a source has none.
        """
        condition, values = query.condition()
        rows = self.rows(
            f"SELECT * FROM list WHERE {condition} {query.order()} LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        return [self._with_decisions(row) for row in rows]

    def entry(self, number: int) -> dict[str, Any] | None:
        """One entry of the list by its number, None if there is none."""
        rows = self.rows("SELECT * FROM list WHERE number = ?", (number,))
        if not rows:
            return None
        return self._with_decisions(rows[0])

    def details(self, number: int) -> dict[str, Any]:
        """What the page of a decision is made of."""
        (row,) = self.rows("SELECT data FROM details WHERE number = ?", (number,))
        details: dict[str, Any] = json.loads(zlib.decompress(row["data"]))
        return details

    def names(self, kind: str) -> list[str]:
        """The systems that wrote chosen answers, or the groups of whom somebody is unhappy.

        Args:
            kind: "system" or "group".
        """
        rows = self.rows("SELECT name FROM names WHERE kind = ? ORDER BY name", (kind,))
        return [row["name"] for row in rows]

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of a query as dicts."""
        cursor = self._connection().execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def _with_decisions(self, row: dict[str, Any]) -> dict[str, Any]:
        for side in ("first", "second"):
            number = row[side]
            row[side] = None
            if number is not None:
                (row[side],) = self.rows("SELECT * FROM decisions WHERE number = ?", (number,))
        return row

    def _count(self, query: Query) -> int:
        condition, values = query.condition()
        rows = self.rows(f"SELECT count(*) AS n FROM list WHERE {condition}", values)
        return int(rows[0]["n"])

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            uri = f"{self._path.as_uri()}?mode=ro&immutable=1"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self._local.connection = connection
            with self._lock:
                self._connections.append(connection)
        return connection


@contextmanager
def build_index(
    sources: Sequence[DecisionSource], progress: ReadProgress, *, with_pages: bool = True
) -> Iterator[DecisionIndex]:
    """Read all decisions of one or two sources into an index.

    Args:
        sources: The sources; the second is compared with the first.
        progress: Called now and then with how many decisions of a source were read.
        with_pages: Whether the search and the pages of decisions are wanted.

    Yields:
        The index, which is removed at the end of the block.

    Raises:
        InputError: If a source cannot be used, or has no decisions.
    """
    with tempfile.TemporaryDirectory(prefix="darc-view-") as folder:
        path = Path(folder) / "decisions.sqlite"
        database = sqlite3.connect(path)
        # Nothing has to survive a crash, and 64 MB are held in memory.
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -64000")
        database.executescript(_SCHEMA)
        writer = _Writer(database, with_pages)
        for number, source in enumerate(sources):
            writer.add_source(number, source, progress)
        writer.finish()
        database.close()
        with DecisionIndex(sources, path) as index:
            yield index


class _Writer:
    """Writes the decisions of sources into the tables of an index."""

    def __init__(self, database: sqlite3.Connection, with_pages: bool) -> None:
        self._database = database
        self._with_pages = with_pages
        self._number = 0

    def add_source(
        self, source_number: int, source: DecisionSource, progress: ReadProgress
    ) -> None:
        """Write all decisions of a source."""
        occurrences: dict[str, int] = {}
        batch: list[tuple[int, int, int, ListedDecision]] = []
        for place, decision in enumerate(source.decisions(progress)):
            self._number += 1
            occurrence = occurrences.get(decision.prompt_id, 0)
            occurrences[decision.prompt_id] = occurrence + 1
            batch.append((self._number, place, occurrence, decision))
            if len(batch) == _BATCH_SIZE:
                self._write(source_number, batch)
                batch = []
        if not occurrences:
            raise InputError(f"{source.name} has no decisions yet", "name another source")
        self._write(source_number, batch)

    def finish(self) -> None:
        """Join the sources by prompt, and make what lists are sorted by."""
        self._database.executescript(_ENTRIES)
        self._database.executescript(_LIST)
        divided = """UPDATE list SET divided = 1 WHERE number IN (
            SELECT number FROM list WHERE disagreement > 0 ORDER BY disagreement DESC
            LIMIT (SELECT max(1, CAST(? * count(*) AS INTEGER)) FROM list))"""
        self._database.execute(divided, (_MOST_DIVIDED_SHARE,))
        self._database.execute("CREATE INDEX groups_by_name ON unhappy_groups (name, number)")
        self._database.execute("ANALYZE")
        self._database.commit()

    def _write(self, source: int, batch: Sequence[tuple[int, int, int, ListedDecision]]) -> None:
        placeholders = ", ".join("?" * 19)
        self._database.executemany(
            f"INSERT INTO decisions VALUES ({placeholders})",
            [
                _decision_row(number, source, place, occurrence, decision)
                for number, place, occurrence, decision in batch
            ],
        )
        if not self._with_pages:
            return
        self._database.executemany(
            "INSERT INTO details VALUES (?, ?)",
            [(number, _packed(decision.details)) for number, _, _, decision in batch],
        )
        self._database.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)",
            [(number, _searched_text(decision)) for number, _, _, decision in batch],
        )
        self._database.executemany(
            "INSERT INTO unhappy_groups VALUES (?, ?)",
            [
                (group, number)
                for number, _, _, decision in batch
                for group in decision.unhappy_groups
            ],
        )


def _decision_row(
    number: int, source: int, place: int, occurrence: int, decision: ListedDecision
) -> tuple[Any, ...]:
    """A decision as a row of the table, in the order of its columns."""
    return (
        number,
        source,
        place,
        decision.prompt_id,
        occurrence,
        beginning(decision.question),
        decision.chosen,
        beginning(decision.answer),
        blake2b(decision.answer.encode("utf-8", "replace"), digest_size=16).digest(),
        decision.best_of_k,
        decision.differs,
        decision.mean,
        decision.disagreement,
        decision.unhappy,
        decision.ratings,
        decision.held,
        " ".join(decision.flags),
        decision.system,
        None,
    )


def beginning(text: str) -> str:
    """The beginning of a text on one line."""
    words = " ".join(text[: 4 * BEGINNING_LENGTH].split())
    if len(words) <= BEGINNING_LENGTH:
        return words
    return f"{words[:BEGINNING_LENGTH].rstrip()} …"


def _packed(details: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(details, ensure_ascii=False).encode(), level=1)


def _searched_text(decision: ListedDecision) -> str:
    parts = (decision.prompt_id, decision.question, decision.chosen, *decision.texts)
    return searchable("\n".join(parts))
