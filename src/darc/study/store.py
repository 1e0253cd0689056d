"""The database of a study: opening it, and transactions that read or write."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    RowMapping,
    create_engine,
    event,
    exc,
    inspect,
    select,
    update,
)
from sqlalchemy.engine import make_url

from darc.closing import Closing
from darc.errors import DarcError, InputError, MissingExtra
from darc.files import append_private
from darc.study import schema
from darc.study.database_files import DatabaseFiles, Unavailable
from darc.study.settings import StudySettings, study_settings

_BUSY_SECONDS = 10.0
_POOL_SIZE = 24


class Store(Closing):
    """A study's database.

    A transaction raises `Unavailable` if the database cannot be used: it is down or locked, or the
    files of SQLite are no longer those that were opened, be it before or after the commit.

    In SQLite a writing transaction takes the one write lock at its beginning (BEGIN IMMEDIATE); a
    lock of this process goes before it, because threads wait for that one in turn. In PostgreSQL
    `locked` takes rows, always annotators before units and those in ascending order.

    Args:
        engine: The connections.
        now: The clock, in seconds since 1970.
        files: The files of an SQLite database; None for PostgreSQL.
    """

    def __init__(
        self, engine: Engine, now: Callable[[], float], files: DatabaseFiles | None
    ) -> None:
        self.engine = engine
        self.now = now
        self.files = files
        self._write_turn = threading.Lock()
        #: Held by the one thread that plans the next wave of an adaptive study.
        self.planning_turn = threading.Lock()

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the database."""
        if self.files is None:
            return self._transaction(nullcontext(), isolation_level="REPEATABLE READ")
        return self._transaction(nullcontext())

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that writes: all of it or nothing."""
        if self.files is None:
            return self._transaction(nullcontext(), writing=True)
        return self._transaction(self._wait_for_turn(), writing=True)

    @contextmanager
    def _transaction(
        self, turn: AbstractContextManager[None], **options: Any
    ) -> Iterator[Connection]:
        """A transaction; raises `Unavailable` if the database cannot be used, or not at its end."""
        try:
            self._check_files()
            with (
                turn,
                self.engine.connect().execution_options(**options) as connection,
                connection.begin(),
            ):
                yield connection
        except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as problem:
            raise Unavailable("the database does not answer", _first_line(problem)) from problem
        except exc.DatabaseError as problem:
            if type(problem) is not exc.DatabaseError or self.files is None:
                raise
            raise Unavailable("the database cannot be read", _first_line(problem)) from problem
        self._check_files()

    @contextmanager
    def _wait_for_turn(self) -> Iterator[None]:
        if not self._write_turn.acquire(timeout=_BUSY_SECONDS):
            raise Unavailable("the database is busy", f"waited {_BUSY_SECONDS:g} s to write")
        try:
            yield
        finally:
            self._write_turn.release()

    def _check_files(self) -> None:
        if self.files is None:
            return
        try:
            self.files.check()
        except Unavailable:
            # What only a deleted -wal file holds goes into the database, if not now then later.
            if self.files.only_deleted():
                self._save_write_ahead_log()
            raise

    def _save_write_ahead_log(self) -> None:
        with (
            suppress(sqlite3.Error, exc.SQLAlchemyError, Unavailable),
            closing(self.engine.raw_connection()) as connection,
        ):
            connection.cursor().execute("PRAGMA wal_checkpoint(FULL)")

    def locked(self, connection: Connection, table: Any, row_id: int) -> Any:
        """A row, locked until the transaction ends; None if there is none."""
        query = select(table).where(table.c.id == row_id)
        return connection.execute(query.with_for_update()).mappings().first()

    def row(self) -> RowMapping:
        """The row of the study itself, as it is now."""
        with self.read() as connection:
            return schema.study_row(connection)

    def keep_address(self, base: str) -> None:
        """Keep what links begin with."""
        with self.write() as connection:
            connection.execute(update(schema.study).values(url=base))

    @cached_property
    def config(self) -> StudySettings:
        """The study's settings, which never change."""
        return study_settings(self.row()["config"], "the stored study")

    @cached_property
    def unit_ids(self) -> dict[str, list[int]]:
        """The ids of the units of each kind, in the order of their numbers, which never change."""
        unit_ids: dict[str, list[int]] = {kind: [] for kind in schema.KINDS}
        units = schema.units
        query = select(units.c.id, units.c.kind).order_by(units.c.kind, units.c.number)
        with self.read() as connection:
            for unit_id, kind in connection.execute(query):
                unit_ids[kind].append(unit_id)
        return unit_ids

    @cached_property
    def item_prompts(self) -> dict[int, int]:
        """The number of the prompt of each item, by the item's id; neither ever changes."""
        units = schema.units
        query = select(units.c.id, units.c.prompt_id).where(units.c.kind == "item")
        numbers: dict[str, int] = {}
        with self.read() as connection:
            rows = connection.execute(query.order_by(units.c.number)).all()
        return {unit_id: numbers.setdefault(prompt, len(numbers)) for unit_id, prompt in rows}

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_store(place: str, *, new: bool = False, now: Callable[[], float] = time.time) -> Store:
    """Open the database of a study.

    Args:
        place: A path (SQLite) or a URL (postgresql://...).
        new: Make its tables; then there must be no study yet, otherwise there must be one.
        now: The clock, in seconds since 1970.

    Returns:
        The store.

    Raises:
        InputError: There is no study, or one already, or it is of a newer version of DARC.
        DarcError: The database cannot be used.
        MissingExtra: The driver of PostgreSQL is not installed.
    """
    url = _parse_url(place)
    files = None
    if url.get_backend_name() == "sqlite":
        files = DatabaseFiles(Path(url.database or "").resolve())
        if new:
            _create_file(files.path)
        elif not files.path.is_file():
            raise _no_study(place)
    store = Store(_make_engine(url, files), now, files)
    try:
        _prepare_tables(store, place, new)
    except exc.SQLAlchemyError as problem:
        store.close()
        raise DarcError(
            f"the database cannot be used ({_first_line(problem)})",
            "check --database and that its server runs",
        ) from None
    except DarcError:
        store.close()
        raise
    return store


def _no_study(place: str) -> InputError:
    return InputError(f"there is no study at {place}", "make one with: darc study init")


def _create_file(path: Path) -> None:
    """Create the file for its owner alone; SQLite's other files get the same permissions."""
    try:
        append_private(path)
    except OSError as problem:
        raise InputError(
            f"{path} cannot be made ({problem.strerror})", "take another --database"
        ) from None


def _prepare_tables(store: Store, place: str, new: bool) -> None:
    """Create the tables, or check that they are there and bring them to the present schema."""
    has_study = inspect(store.engine).has_table("study")
    if store.files is not None:
        store.files.remember()
    if new:
        if has_study:
            raise InputError(f"{place} holds a study already", "take another --database")
        with store.write() as connection:
            schema.metadata.create_all(connection)
        return
    if not has_study:
        raise _no_study(place)
    with store.read() as connection:
        version = connection.execute(select(schema.study.c.schema)).scalar()
    if version is None or version > schema.SCHEMA:
        raise InputError(
            f"the study has schema {version}, and this DARC reads {schema.SCHEMA}",
            "upgrade DARC, or finish darc study init",
        )
    if version < schema.SCHEMA:
        with store.write() as connection:
            schema.upgrade_tables(connection)


def _parse_url(place: str) -> Any:
    if "://" not in place:
        return URL.create("sqlite", database=place)
    try:
        url = make_url(place)
    except exc.ArgumentError:
        raise InputError("the database URL cannot be read", "write postgresql://...") from None
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(
            f"{url.get_backend_name()} is not a database that a study can be kept in",
            "give a path for SQLite, or postgresql://...",
        )
    return url


def _first_line(problem: exc.SQLAlchemyError) -> str:
    """The first line of what the database itself said."""
    cause = getattr(problem, "orig", None) or problem
    message = str(cause).strip() or "nothing"
    return message.splitlines()[0]


def _make_engine(url: Any, files: DatabaseFiles | None) -> Engine:
    if files is None:
        return _make_postgres_engine(url)
    return _make_sqlite_engine(files)


def _make_postgres_engine(url: Any) -> Engine:
    connect_args = {}
    if "connect_timeout" not in url.query:
        connect_args["connect_timeout"] = int(_BUSY_SECONDS)
    try:
        return create_engine(
            url,
            pool_pre_ping=True,
            connect_args=connect_args,
            pool_size=_POOL_SIZE,
            max_overflow=_POOL_SIZE,
            pool_timeout=_BUSY_SECONDS,
        )
    except (ImportError, exc.NoSuchModuleError):
        raise MissingExtra("a study in PostgreSQL", "postgres") from None


def _make_sqlite_engine(files: DatabaseFiles) -> Engine:
    """Connections to the very file that the store was opened with; no file is created."""
    url = URL.create("sqlite", database=files.path.as_uri(), query={"mode": "rw", "uri": "true"})
    engine = create_engine(
        url,
        connect_args={
            "timeout": _BUSY_SECONDS,
            "isolation_level": None,
            "check_same_thread": False,
        },
        pool_size=_POOL_SIZE,
        max_overflow=_POOL_SIZE,
        pool_timeout=_BUSY_SECONDS,
    )

    @event.listens_for(engine, "do_connect")
    def check_files(*_: object) -> None:
        files.check()

    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        files.check()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine
