"""Copies of a study's database, taken while it is served."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from darc.errors import DarcError
from darc.study.store import Store
from darc.tables.write import atomic_path


def backup(store: Store, path: Path) -> None:
    """Copy the database, as of one moment, to a file: SQLite, or what pg_restore reads."""
    with atomic_path(path, private=True) as temporary:
        if store.is_sqlite:
            with (
                closing(sqlite3.connect(str(store.engine.url.database))) as source,
                closing(sqlite3.connect(temporary)) as target,
            ):
                source.backup(target)
            return
        _dump(store, temporary)


def _dump(store: Store, path: Path) -> None:
    tool = shutil.which("pg_dump")
    if tool is None:
        raise DarcError("a backup of PostgreSQL needs pg_dump", "install postgresql-client")
    url = store.engine.url.set(drivername="postgresql", password=None)
    environment = dict(os.environ)
    if store.engine.url.password is not None:
        environment["PGPASSWORD"] = str(store.engine.url.password)
    command = [tool, "--format=custom", f"--file={path}", url.render_as_string()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        told = done.stderr.strip().splitlines()
        raise DarcError(f"pg_dump failed ({told[-1] if told else 'it said nothing'})")
