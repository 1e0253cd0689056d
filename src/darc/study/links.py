"""Personal links: making, renewing and revoking them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, select, update

from darc.errors import InputError
from darc.study import schema
from darc.study.enrolment import count_places
from darc.study.people import annotator_by_name, set_columns
from darc.study.plan import add_annotators, make_token
from darc.study.schema import change, note
from darc.study.store import Store

_annotators = schema.annotators

_HASH_COLUMNS = {"lead": "lead_hash", "enrolment": "enrol_hash"}


def issue_links(store: Store, names: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Make new tokens for links, which are not stored.

    Args:
        store: The study.
        names: The raters who get a new link, whose old one stops working. By default all who never
            had one.

    Returns:
        Pseudonym and token of each.

    Raises:
        InputError: A rater was erased.
        UnknownName: There is no such rater.
    """
    with store.write() as connection:
        if names:
            rows = [annotator_by_name(connection, name) for name in names]
        else:
            rows = list(connection.execute(_without_link()).mappings())
        links = []
        for row in rows:
            if row["erased"] is not None:
                raise InputError(f"{row['name']} was erased", "add another annotator")
            token, token_hash = make_token()
            change(connection, _annotators, row["id"], token_hash=token_hash)
            note(connection, store.now(), "lead", "linked", row["name"])
            links.append((row["name"], token))
    return links


def _without_link() -> Select[Any]:
    """The query of those who never had a link."""
    revoked = select(schema.log.c.subject).where(schema.log.c.action == "revoked")
    query = select(_annotators).where(
        _annotators.c.token_hash.is_(None),
        _annotators.c.erased.is_(None),
        _annotators.c.consented.is_(None),
        _annotators.c.name.not_in(revoked),
    )
    return query.order_by(_annotators.c.id)


def add_links(store: Store, count: int) -> list[tuple[str, str]]:
    """Add annotators with their links.

    Args:
        store: The study.
        count: How many.

    Returns:
        Pseudonym and token of each.

    Raises:
        InputError: There would be more annotators than study.most.
    """
    if count < 1:
        raise InputError(f"{count} annotators cannot be added", "give a positive number")
    most = store.config.study.most
    with store.write() as connection:
        present = count_places(store, connection)
        if present + count > most:
            raise InputError(
                f"{count} more annotators would make {present + count}, and study.most is {most}",
                f"add at most {max(0, most - present)}",
            )
        added = add_annotators(store, connection, store.config, count)
    return issue_links(store, [name for _, name in added])


def revoke(store: Store, name: str) -> None:
    """Make a rater's link stop working; what they rated stays."""
    set_columns(store, name, "revoked", token_hash=None)


def renew(store: Store, link: str) -> str:
    """Make a new token for the link of the lead or of the enrolment; the old one stops working.

    Args:
        store: The study.
        link: "lead" or "enrolment".

    Returns:
        The token.
    """
    token, token_hash = make_token()
    with store.write() as connection:
        connection.execute(update(schema.study).values({_HASH_COLUMNS[link]: token_hash}))
        note(connection, store.now(), "lead", "linked", link)
    return token
