"""Copies of a study's database."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from darc.errors import DarcError
from darc.files import atomic_path
from darc.study.store import Store


def backup(store: Store, path: Path) -> None:
    """Copy the database, as of one moment, to a file for its owner alone.

    Args:
        store: The study.
        path: The copy: an SQLite database, or what pg_restore reads.

    Raises:
        DarcError: pg_dump is missing or failed.
    """
    with atomic_path(path, private=True) as temporary:
        if store.files is None:
            _dump_postgres(store, temporary)
        else:
            _copy_sqlite(store.files.path, temporary)


def _copy_sqlite(database: Path, copy: Path) -> None:
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def _dump_postgres(store: Store, copy: Path) -> None:
    tool = shutil.which("pg_dump")
    if tool is None:
        raise DarcError("a backup of PostgreSQL needs pg_dump", "install postgresql-client")
    url = store.engine.url
    environment = dict(os.environ)
    if url.password is not None:
        # As an argument, other users of the machine could see it.
        environment["PGPASSWORD"] = str(url.password)
    address = url.set(drivername="postgresql", password=None).render_as_string()
    result = subprocess.run(
        [tool, "--format=custom", f"--file={copy}", address],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["it said nothing"]
        raise DarcError(f"pg_dump failed ({lines[-1]})")
