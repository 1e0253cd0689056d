"""The database of a study: opening it, and transactions that read or write."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from darc.errors import DarcError, InputError, MissingExtra
from darc.files import append_private
from darc.study import schema
from darc.study.config import Config, config_of

BUSY_SECONDS = 30
POOL = 24


class Store:
    """A study's database; `now` is the clock, in seconds since 1970.

    In SQLite a writing transaction takes the one write lock at its beginning (BEGIN IMMEDIATE); a
    lock of this process goes before it, because threads wait for that one in turn. In PostgreSQL
    `locked` takes rows, always annotators before units and those in ascending order.
    """

    def __init__(self, engine: Engine, now: Callable[[], float] = time.time) -> None:
        self.engine = engine
        self.now = now
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._turn = threading.Lock()
        self._config: Config | None = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes: all of it or nothing."""
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with (
            self._turn,
            self.engine.connect().execution_options(writing=True) as connection,
            connection.begin(),
        ):
            yield connection

    def locked(self, connection: Connection, table: Any, row_id: int) -> Any:
        """A row, held until the transaction ends; None where there is none."""
        query = select(table).where(table.c.id == row_id)
        return connection.execute(query.with_for_update()).mappings().first()

    @property
    def config(self) -> Config:
        """The study's settings, which never change."""
        if self._config is None:
            with self.read() as connection:
                row = connection.execute(select(schema.study.c.config)).scalar_one()
            self._config = config_of(row, "the stored study")
        return self._config

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def open_store(place: str, *, new: bool = False, now: Callable[[], float] = time.time) -> Store:
    """The store at a path (SQLite) or a URL (postgresql://...); `new` makes its tables.

    A new one must not exist yet, another one must, and of a schema that is known.
    """
    url = _url(place)
    if url.get_backend_name() == "sqlite" and not new and not Path(url.database or "").is_file():
        raise InputError(f"there is no study at {place}", "make one with: darc study init")
    engine = _engine(url)
    store = Store(engine, now)
    try:
        if new and store.is_sqlite and url.database:
            # For the owner's eyes; SQLite gives its -wal and -shm the mode of this file.
            append_private(Path(url.database))
        found = inspect(engine).has_table("study")
        if new and found:
            raise InputError(f"{place} holds a study already", "take another --database")
        if not new and not found:
            raise InputError(f"there is no study at {place}", "make one with: darc study init")
        if new:
            with store.write() as connection:
                schema.create_tables(connection)
            return store
        with store.read() as connection:
            version = connection.execute(select(schema.study.c.schema)).scalar()
    except SQLAlchemyError as problem:
        store.close()
        told = str(getattr(problem, "orig", None) or problem).strip().splitlines()[0]
        raise DarcError(
            f"the database cannot be used ({told})", "check --database and that its server runs"
        ) from None
    except OSError as problem:
        store.close()
        raise InputError(
            f"{place} cannot be written ({problem.strerror})", "create its folder first"
        ) from None
    except InputError:
        store.close()
        raise
    if version is None or version > schema.SCHEMA:
        store.close()
        raise InputError(
            f"the study has schema {version}, and this DARC reads {schema.SCHEMA}",
            "upgrade DARC, or finish darc study init",
        )
    return store


def _url(place: str) -> Any:
    if "://" not in place:
        return make_url(f"sqlite:///{Path(place).resolve()}")
    try:
        url = make_url(place)
    except ArgumentError:
        raise InputError("the database URL cannot be read", "write postgresql://...") from None
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(
            f"{url.get_backend_name()} is no database that a study is kept in",
            "give a path for SQLite, or postgresql://...",
        )
    return url


def _engine(url: Any) -> Engine:
    try:
        if url.get_backend_name() == "postgresql":
            return create_engine(url, pool_size=POOL, max_overflow=POOL, pool_pre_ping=True)
        engine = create_engine(
            url, pool_size=POOL, max_overflow=POOL, connect_args={"timeout": BUSY_SECONDS}
        )
    except (ImportError, NoSuchModuleError):
        raise MissingExtra("a study in PostgreSQL", "postgres") from None
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
