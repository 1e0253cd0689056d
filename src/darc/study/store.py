"""The database of a study: opening it, transactions that read or write, and copies of it."""

import os
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import cache, cached_property
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
from darc.files import append_private, atomic_path
from darc.study import schema
from darc.study.settings import StudySettings, study_settings, template_of
from darc.web.problems import Problem

BUSY_SECONDS = 10.0
POOL = 24
ENDINGS = ("", "-wal", "-shm")


class Unavailable(DarcError):
    """The database cannot be used now.

    `message` tells strangers nothing about the place; `hint` is for the log and the command line.
    """


@cache
def messages() -> dict[str, Any]:
    """The pages that say one thing, by name: status, title and text."""
    return template_of("messages")


class Refusal(Problem):
    """One of `messages`, which a visitor gets instead of what was asked for."""

    def __init__(self, name: str, headers: Mapping[str, str] | None = None) -> None:
        page = messages()[name]
        super().__init__(page["status"], page["text"], code=name, headers=headers or {})


class DatabaseFiles:
    """A database with its -wal and -shm file, `known` by device and inode once it is open.

    A process goes on writing to a file that was deleted or moved, and whoever opens the path
    afterwards finds nothing of it. SQLite itself keeps the three files while they are open, and
    open connections keep their inodes from being used again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, tuple[int, int]] = {}

    def found(self) -> dict[str, tuple[int, int]]:
        """The device and inode of each file that is there."""
        found = {}
        for ending in ENDINGS:
            with suppress(OSError):
                one = Path(f"{self.path}{ending}").stat()
                found[ending] = one.st_dev, one.st_ino
        return found

    def check(self) -> None:
        """Raise `Unavailable` unless all files are those known; three calls of stat."""
        if not self.known or (found := self.found()) == self.known:
            return
        if "" not in found:
            message = "the database file was deleted or moved"
            hint = f"put it back at {self.path}, or start again with another"
        elif found[""] != self.known[""]:
            message = "another file is in the place of the database"
            hint = f"put the first one back at {self.path}, or restart to use the one there now"
        else:
            message = "the database's -wal or -shm file was deleted or replaced"
            hint = f"restart, and leave the files beside {self.path} alone"
        raise Unavailable(message, hint)


class Store(Closing):
    """A study's database; `now` is the clock, in seconds since 1970.

    A transaction raises `Unavailable` where the database cannot be used: it is down or locked, or
    the files of SQLite are no longer those that were opened, be it before or after the commit.

    In SQLite a writing transaction takes the one write lock at its beginning (BEGIN IMMEDIATE); a
    lock of this process goes before it, because threads wait for that one in turn. In PostgreSQL
    `locked` takes rows, always annotators before units and those in ascending order.
    """

    def __init__(
        self, engine: Engine, now: Callable[[], float], files: DatabaseFiles | None
    ) -> None:
        self.engine = engine
        self.now = now
        self.files = files
        self._turn = threading.Lock()

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the database."""
        level = {} if self.files else {"isolation_level": "REPEATABLE READ"}
        return self._begun(nullcontext(), **level)

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that writes: all of it or nothing."""
        return self._begun(self._in_turn() if self.files else nullcontext(), writing=True)

    @contextmanager
    def _begun(self, turn: AbstractContextManager[None], **options: Any) -> Iterator[Connection]:
        """A transaction; `Unavailable` where the database cannot be used, or not at its end."""
        try:
            self._check_files()
            with turn, self.engine.connect().execution_options(**options) as found, found.begin():
                yield found
        except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as problem:
            raise Unavailable("the database does not answer", first_line(problem)) from problem
        except exc.DatabaseError as problem:
            if type(problem) is not exc.DatabaseError or self.files is None:
                raise
            raise Unavailable("the database cannot be read", first_line(problem)) from problem
        self._check_files()

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=BUSY_SECONDS):
            raise Unavailable("the database is busy", f"waited {BUSY_SECONDS:g} s to write")
        try:
            yield
        finally:
            self._turn.release()

    def _check_files(self) -> None:
        if self.files is None:
            return
        try:
            self.files.check()
        except Unavailable:
            found = self.files.found()
            # What only a deleted -wal file holds goes into the database, if not now then later;
            # it must be in its place, and nobody have begun a -wal or -shm file of their own.
            if "" in found and found.items() <= self.files.known.items():
                with (
                    suppress(sqlite3.Error, exc.SQLAlchemyError, Unavailable),
                    closing(self.engine.raw_connection()) as connection,
                ):
                    connection.cursor().execute("PRAGMA wal_checkpoint(FULL)")
            raise

    def locked(self, connection: Connection, table: Any, row_id: int) -> Any:
        """A row, held until the transaction ends; None where there is none."""
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
        found: dict[str, list[int]] = {kind: [] for kind in schema.KINDS}
        units = schema.units
        query = select(units.c.id, units.c.kind).order_by(units.c.kind, units.c.number)
        with self.read() as connection:
            for unit_id, kind in connection.execute(query):
                found[kind].append(unit_id)
        return found

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def open_store(place: str, *, new: bool = False, now: Callable[[], float] = time.time) -> Store:
    """The store at a path (SQLite) or a URL (postgresql://...); `new` makes its tables.

    A new one must not exist yet, another one must, and of a schema that is known.
    """
    url, files = _url(place), None
    absent = InputError(f"there is no study at {place}", "make one with: darc study init")
    if url.get_backend_name() == "sqlite":
        files = DatabaseFiles(Path(url.database or "").resolve())
        if not new and not files.path.is_file():
            raise absent
        if new:  # the file is for its owner alone, and SQLite's others follow it
            try:
                append_private(files.path)
            except OSError as problem:
                told = f"{files.path} cannot be made ({problem.strerror})"
                raise InputError(told, "take another --database") from None
    store = Store(_engine(url, files), now, files)
    try:
        found = inspect(store.engine).has_table("study")
        if files is not None:
            files.known = files.found()
        if new and found:
            raise InputError(f"{place} holds a study already", "take another --database")
        if new:
            with store.write() as connection:
                schema.metadata.create_all(connection)
            return store
        if not found:
            raise absent
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
    except exc.SQLAlchemyError as problem:
        store.close()
        raise DarcError(
            f"the database cannot be used ({first_line(problem)})",
            "check --database and that its server runs",
        ) from None
    except DarcError:
        store.close()
        raise
    return store


def _url(place: str) -> Any:
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
            f"{url.get_backend_name()} is no database that a study is kept in",
            "give a path for SQLite, or postgresql://...",
        )
    return url


def first_line(problem: exc.SQLAlchemyError) -> str:
    """What the database itself said, in a line."""
    return (str(getattr(problem, "orig", None) or problem).strip() or "nothing").splitlines()[0]


def _engine(url: Any, files: DatabaseFiles | None) -> Engine:
    pool = {"pool_size": POOL, "max_overflow": POOL, "pool_timeout": BUSY_SECONDS}
    if files is None:
        patience = {} if "connect_timeout" in url.query else {"connect_timeout": int(BUSY_SECONDS)}
        try:
            return create_engine(url, pool_pre_ping=True, connect_args=patience, **pool)
        except (ImportError, exc.NoSuchModuleError):
            raise MissingExtra("a study in PostgreSQL", "postgres") from None
    # The very file that the store was opened with; none is made anew.
    url = URL.create("sqlite", database=files.path.as_uri(), query={"mode": "rw", "uri": "true"})
    arguments = {"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False}
    engine = create_engine(url, connect_args=arguments, **pool)

    @event.listens_for(engine, "do_connect")
    def check(*_: object) -> None:
        files.check()

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        files.check()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def backup(store: Store, path: Path) -> None:
    """Copy the database, as of one moment, to a file: SQLite, or what pg_restore reads."""
    url = store.engine.url
    with atomic_path(path, private=True) as temporary:
        if store.files is not None:
            with (
                closing(sqlite3.connect(store.files.path)) as source,
                closing(sqlite3.connect(temporary)) as target,
            ):
                source.backup(target)
            return
        tool = shutil.which("pg_dump")
        if tool is None:
            raise DarcError("a backup of PostgreSQL needs pg_dump", "install postgresql-client")
        secret = {} if url.password is None else {"PGPASSWORD": str(url.password)}
        place = url.set(drivername="postgresql", password=None).render_as_string()
        done = subprocess.run(
            [tool, "--format=custom", f"--file={temporary}", place],
            env={**os.environ, **secret},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            told = done.stderr.strip().splitlines()
            raise DarcError(f"pg_dump failed ({told[-1] if told else 'it said nothing'})")
