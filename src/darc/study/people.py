"""Annotators: their links, enrolment, setting their ratings aside, and forgetting a person."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from darc.errors import InputError, UnknownName
from darc.study import schema
from darc.study.claims import taken
from darc.study.plan import add_annotators, make_token
from darc.study.schema import SURPLUS, change, note
from darc.study.store import Refusal, Store
from darc.web.keys import hash_token

tasks, units, people = schema.tasks, schema.units, schema.annotators

LISTED = "darc study status lists everyone"
FORGOTTEN = dict.fromkeys(
    ("token_hash", "person", "session_hash", "consented", "groups", "instructed", "finished")
)


def annotator_by_name(connection: Connection, name: str) -> Any:
    """The row of a rater, by pseudonym, held until the transaction ends; others are refused."""
    query = select(people).where(people.c.name == name).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        names = connection.execute(select(people.c.name).order_by(people.c.id)).scalars()
        raise UnknownName("rater", name, list(names))
    return row


def issue_links(store: Store, names: Sequence[str] = ()) -> list[tuple[str, str]]:
    """New tokens, as (rater, token): for all who never had a link, or for the raters named.

    The old link of a rater who is named stops working. Tokens are not stored.
    """
    with store.write() as connection:
        if names:
            rows = [annotator_by_name(connection, name) for name in names]
        else:
            revoked = select(schema.log.c.subject).where(schema.log.c.action == "revoked")
            query = select(people).where(
                *(people.c[name].is_(None) for name in ("token_hash", "erased", "consented")),
                people.c.name.not_in(revoked),
            )
            rows = list(connection.execute(query.order_by(people.c.id)).mappings())
        issued = []
        for row in rows:
            if row["erased"] is not None:
                raise InputError(f"{row['name']} was erased", "add another annotator")
            token, digest = make_token()
            change(connection, people, row["id"], token_hash=digest)
            note(connection, store.now(), "lead", "linked", row["name"])
            issued.append((row["name"], token))
    return issued


def add_links(store: Store, count: int) -> list[tuple[str, str]]:
    """More annotators with their links."""
    if count < 1:
        raise InputError(f"{count} annotators cannot be added", "give a positive number")
    most = store.config.study.most
    with store.write() as connection:
        known = _size(connection)
        if known + count > most:
            raise InputError(
                f"{count} more annotators would make {known + count}, and study.most is {most}",
                f"add at most {max(0, most - known)}",
            )
        added = add_annotators(store, connection, store.config, count)
    return issue_links(store, [name for _, name in added])


def revoke(store: Store, name: str) -> None:
    """Make a rater's link stop working; what they rated stays."""
    _decide(store, name, "revoked", token_hash=None)


def renew(store: Store, link: str) -> str:
    """A new token for the link of the "lead" or of "enrolment"; the old one stops working."""
    token, digest = make_token()
    column = {"lead": "lead_hash", "enrolment": "enrol_hash"}[link]
    with store.write() as connection:
        connection.execute(update(schema.study).values({column: digest}))
        note(connection, store.now(), "lead", "linked", link)
    return token


def enrol(store: Store, person: str, session: str) -> str:
    """The token of whoever came by the enrolment link.

    `person` and `session` are Prolific's; who comes back with both gets a new link to the same
    place, and a person in another session is refused. Without a person everyone is new.
    """
    token, digest = make_token()
    with store.write() as connection:
        store.locked(connection, schema.study, 1)
        known = select(people).where(people.c.person == person)
        row = connection.execute(known).mappings().first() if person else None
        if row is not None:
            if not session or row["session_hash"] != hash_token(session):
                raise Refusal("known")
            change(connection, people, row["id"], token_hash=digest)
            return token
        if _size(connection) >= store.config.study.most:
            raise Refusal("full")
        ((added, _),) = add_annotators(store, connection, store.config, 1)
        known_by = {"person": person or None, "session_hash": hash_token(session)}
        change(connection, people, added, token_hash=digest, **known_by)
    return token


def erase(store: Store, name: str) -> int:
    """Forget a person: their answers, their link and who they are; the number of answers.

    Their slots are open again. The log keeps the pseudonym, which then stands for nobody.
    """
    with store.write() as connection:
        row = annotator_by_name(connection, name)
        done = connection.execute(delete(tasks).where(tasks.c.annotator_id == row["id"]))
        change(connection, people, row["id"], **FORGOTTEN, erased=store.now())
        note(connection, store.now(), "lead", "erased", name)
    return int(done.rowcount)


def exclude(store: Store, connection: Connection, person: Any, reason: str, actor: str) -> None:
    """Mark a locked annotator's ratings as not valid; their slots, and their leases, are free.

    A slot is first filled with a surplus rating, where another annotator gave one.
    """
    change(connection, people, person["id"], excluded=store.now(), exclusion_reason=reason)
    own = tasks.c.annotator_id == person["id"]
    item = own & (tasks.c.kind == "item")
    freed = sorted(connection.execute(select(tasks.c.unit_id).where(item, tasks.c.valid)).scalars())
    connection.execute(
        update(tasks).where(item, tasks.c.answer.is_not(None)).values(valid=False, reason=reason)
    )
    connection.execute(update(tasks).where(own, tasks.c.answered.is_(None)).values(lease_until=0.0))
    note(connection, store.now(), actor, "excluded", person["name"], reason)
    refill(store, connection, freed)


def refill(store: Store, connection: Connection, units_freed: Sequence[int]) -> None:
    """Fill free slots of units with surplus ratings, where there are any."""
    surplus = (tasks.c.reason == SURPLUS) & (tasks.c.kind == "item")
    for unit_id in units_freed:
        query = select(tasks.c.id).where(tasks.c.unit_id == unit_id, surplus)
        for task_id in connection.execute(query.order_by(tasks.c.answered)).scalars().all():
            _restore(store, connection, unit_id, task_id)


def exclude_by_name(store: Store, name: str, reason: str) -> None:
    """Exclude an annotator for a reason in words."""
    if not reason.strip():
        raise InputError("an exclusion needs a reason", "add --reason TEXT")
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        if person["excluded"] is not None:
            raise InputError(f"{name} is excluded already", LISTED)
        exclude(store, connection, person, reason.strip()[:200], "lead")


def reinstate(store: Store, name: str) -> tuple[int, int]:
    """Undo an exclusion; how many ratings count again, and how many found their slots filled.

    Checks do not exclude the annotator again. Ratings that found no slot stay set aside as surplus,
    so that no item has more than its number of ratings.
    """
    with store.write() as connection:
        person = annotator_by_name(connection, name)
        if person["excluded"] is None:
            raise InputError(f"{name} is not excluded", LISTED)
        own = (tasks.c.annotator_id == person["id"]) & (tasks.c.kind == "item")
        aside = tasks.c.answer.is_not(None) & tasks.c.valid.is_(False)
        query = select(tasks.c.id, tasks.c.unit_id).where(own, aside).order_by(tasks.c.unit_id)
        rows = connection.execute(query).all()
        change(connection, people, person["id"], excluded=None, exclusion_reason="", kept=True)
        back = sum(_restore(store, connection, unit_id, task_id) for task_id, unit_id in rows)
        note(connection, store.now(), "lead", "reinstated", name, f"{back} of {len(rows)} ratings")
    return back, len(rows) - back


def clear(store: Store, name: str) -> None:
    """Note that an annotator's flags were looked at and mean nothing."""
    _decide(store, name, "cleared", cleared=True)


def _decide(store: Store, name: str, action: str, **values: Any) -> None:
    with store.write() as connection:
        change(connection, people, annotator_by_name(connection, name)["id"], **values)
        note(connection, store.now(), "lead", action, name)


def _restore(store: Store, connection: Connection, unit_id: int, task_id: int) -> bool:
    """Let a rating that was set aside count, if its unit has a free slot."""
    store.locked(connection, units, unit_id)
    fits = taken(connection, unit_id, store.now()) < store.config.study.ratings
    change(connection, tasks, task_id, valid=fits, reason="" if fits else SURPLUS)
    return fits


def _size(connection: Connection) -> int:
    return connection.execute(select(func.count(people.c.id))).scalar_one()
