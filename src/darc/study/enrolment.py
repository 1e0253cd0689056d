"""Open enrolment: places for whoever comes by the enrolment link."""

import hmac
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, not_, or_, select

from darc.study import schema
from darc.study.messages import Refusal
from darc.study.plan import add_annotators, make_token
from darc.study.schema import change, note
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.web.keys import hash_token

_annotators = schema.annotators

_INTRODUCTION_COLUMNS = ("groups", "consented", "instructed")


@dataclass(frozen=True)
class Visitor:
    """Who came by the enrolment link."""

    #: The id of the person on the recruiting platform; if it is empty, everyone is new.
    person: str = ""
    #: The id of their session there.
    session: str = ""
    #: The address that they come from; empty if it is not known.
    address: str = ""


def enrol(store: Store, visitor: Visitor) -> str:
    """Enrol whoever came by the enrolment link.

    A place lapses, and goes to somebody else, if it has not been used up to the end of the
    comprehension check within `study.place_minutes`.

    Args:
        store: The study.
        visitor: Who it is. Whoever comes back with both ids gets a new link to the same place.

    Returns:
        The token of their link.

    Raises:
        Refusal: The person is known by another session, somebody failed the comprehension check
            at this address, many places of this address are not used yet, or the study is full.
    """
    token, token_hash = make_token()
    with store.write() as connection:
        study = store.locked(connection, schema.study, 1)
        if visitor.person:
            query = select(_annotators).where(_annotators.c.person == visitor.person)
            row = connection.execute(query).mappings().first()
            if row is not None:
                if not visitor.session or row["session_hash"] != hash_token(visitor.session):
                    raise Refusal("known")
                change(connection, _annotators, row["id"], token_hash=token_hash)
                return token
        address_hash = _hash_address(study, visitor.address)
        if address_hash is not None:
            _check_address(store, connection, address_hash)
        change(
            connection,
            _annotators,
            _find_place(store, connection),
            token_hash=token_hash,
            person=visitor.person or None,
            session_hash=hash_token(visitor.session),
            address_hash=address_hash,
        )
    return token


def count_places(store: Store, connection: Connection) -> int:
    """Count the annotators whose place has not lapsed.

    Args:
        store: The study.
        connection: A transaction.
    """
    query = select(func.count(_annotators.c.id)).where(not_(_has_lapsed(store)))
    return connection.execute(query).scalar_one()


def _find_place(store: Store, connection: Connection) -> int:
    """The id of a place that has lapsed, or of a new one."""
    # Whoever has failed once keeps the place, so that nobody begins again with no failure.
    lapsed = select(_annotators).where(_has_lapsed(store), _annotators.c.tries == 0)
    row = connection.execute(lapsed.order_by(_annotators.c.id).limit(1)).mappings().first()
    if row is not None:
        nothing = dict.fromkeys(_INTRODUCTION_COLUMNS)
        now = store.now()
        change(connection, _annotators, row["id"], created=now, **nothing)
        note(connection, now, "study", "lapsed", row["name"])
        return int(row["id"])
    if count_places(store, connection) >= store.config.study.most:
        raise Refusal("full")
    ((annotator_id, _),) = add_annotators(store, connection, store.config, 1)
    return annotator_id


def _check_address(store: Store, connection: Connection, address_hash: str) -> None:
    """Refuse an address at which the check was failed, or that has many unused places."""
    same_address = _annotators.c.address_hash == address_hash
    failed = select(func.count(_annotators.c.id)).where(
        same_address, _annotators.c.tries > 0, not_(_annotators.c.kept)
    )
    if connection.execute(failed).scalar_one():
        raise Refusal("failed_before")
    unused = select(func.count(_annotators.c.id)).where(
        same_address, _is_unused(store.config), not_(_has_lapsed(store))
    )
    if connection.execute(unused).scalar_one() >= store.config.study.places_per_address:
        raise Refusal("many_places")


def _is_unused(config: StudySettings) -> ColumnElement[bool]:
    """Whether somebody enrolled and has not come to the end of the comprehension check."""
    missing: ColumnElement[bool] = _annotators.c.consented.is_(None)
    if config.comprehension:
        missing = or_(missing, _annotators.c.understood.is_(None))
    return and_(
        _annotators.c.session_hash.is_not(None),
        _annotators.c.excluded.is_(None),
        not_(_annotators.c.kept),
        missing,
    )


def _has_lapsed(store: Store) -> ColumnElement[bool]:
    """Whether an unused place is free again."""
    oldest = store.now() - 60 * store.config.study.place_minutes
    return and_(
        # `erased` people are in nobody's way: their session is forgotten, so they are not unused.
        _is_unused(store.config),
        _annotators.c.created < oldest,
    )


def _hash_address(study: Any, address: str) -> str | None:
    """An address as it is kept until the comprehension check is passed."""
    if not address:
        return None
    key = f"{study['created']} {study['completion_code']}"
    return hmac.new(key.encode(), address.encode(), "sha256").hexdigest()
