"""Annotators by their pseudonym."""

from typing import Any

from sqlalchemy import Connection, delete, select

from darc.errors import UnknownName
from darc.study import schema
from darc.study.schema import change, note
from darc.study.store import Store

_tasks = schema.tasks
_annotators = schema.annotators

_PERSONAL_COLUMNS = (
    "token_hash",
    "person",
    "session_hash",
    "address_hash",
    "consented",
    "groups",
    "instructed",
    "finished",
)


def annotator_by_name(connection: Connection, name: str) -> Any:
    """Find an annotator and lock their row until the transaction ends.

    Args:
        connection: A transaction that writes.
        name: The pseudonym.

    Returns:
        The row.

    Raises:
        UnknownName: There is no such annotator.
    """
    query = select(_annotators).where(_annotators.c.name == name).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        names = select(_annotators.c.name).order_by(_annotators.c.id)
        raise UnknownName("rater", name, list(connection.execute(names).scalars()))
    return row


def set_columns(store: Store, name: str, action: str, **values: Any) -> None:
    """Set columns of an annotator's row, as a decision of the lead that is logged.

    Args:
        store: The study.
        name: The pseudonym.
        action: What the log says.
        values: The values by column.
    """
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        change(connection, _annotators, person["id"], **values)
        note(connection, store.now(), "lead", action, name)


def erase(store: Store, name: str) -> int:
    """Forget a person: their answers, their link and who they are.

    Their slots are open again. The log keeps the pseudonym, which then stands for nobody.

    Args:
        store: The study.
        name: The pseudonym.

    Returns:
        The number of answers that were removed.
    """
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        answers = delete(_tasks).where(_tasks.c.annotator_id == person["id"])
        result = connection.execute(answers)
        nothing = dict.fromkeys(_PERSONAL_COLUMNS)
        change(connection, _annotators, person["id"], **nothing, erased=store.now())
        note(connection, store.now(), "lead", "erased", name)
    return int(result.rowcount)
