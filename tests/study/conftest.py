"""Places for studies: a file, and a database of a real PostgreSQL server."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.study.postgres import MISSING, binaries, postgres_server

COUNTER = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server, made once; skipped where there are no binaries, except in CI."""
    pytest.importorskip("psycopg")
    tools = binaries()
    if tools is None:
        if "CI" in os.environ:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with postgres_server(tools) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new study can be put."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return str(request.getfixturevalue("new_database")())


@pytest.fixture
def new_database(postgres: str) -> Callable[[], str]:
    """A maker of empty databases."""
    import psycopg

    def make() -> str:
        name = f"study_{next(COUNTER)}"
        with psycopg.connect(postgres % "postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgres % name

    return make
