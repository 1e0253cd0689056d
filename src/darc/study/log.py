"""The append-only log of decisions; it holds pseudonyms and no ratings."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, insert, select

from darc.study import schema


def note(
    connection: Connection, at: float, actor: str, action: str, subject: str, detail: str = ""
) -> None:
    """Add a line; `actor` is study, lead or a rater's pseudonym."""
    row = {"at": at, "actor": actor, "action": action, "subject": subject, "detail": detail}
    connection.execute(insert(schema.log).values(**row))


def lines(connection: Connection) -> Iterator[dict[str, Any]]:
    """All lines, oldest first."""
    for row in connection.execute(select(schema.log).order_by(schema.log.c.id)).mappings():
        yield dict(row)
