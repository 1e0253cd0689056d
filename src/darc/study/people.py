"""Annotators: adding them, their links, enrolment, and forgetting a person."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from darc.errors import InputError, UnknownName
from darc.study import schema
from darc.study.plan import Plan, design_of, plan
from darc.study.schema import note
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.web.clients import digest_of

people = schema.annotators


def make_token() -> tuple[str, str]:
    """A token of a link, shown once, and its hash, which is what is stored."""
    token = secrets.token_urlsafe(32)
    return token, digest_of(token)


def add_annotators(
    store: Store, connection: Connection, config: StudySettings, count: int
) -> list[int]:
    """Add annotators with their frozen plans and without a link; the result is their ids."""
    design = design_of(connection, config)
    start = (connection.execute(select(func.max(people.c.number))).scalar() or 0) + 1
    if start == 1 and not connection.execute(select(func.count()).select_from(people)).scalar():
        start = 0
    added = []
    for number in range(start, start + count):
        name = f"r{number + 1:03d}"
        row = {"name": name, "number": number, "plan": plain_plan(plan(design, number))}
        done = connection.execute(insert(people).values(**row, created=store.now()))
        added.append(schema.new_id(done))
        note(connection, store.now(), "study", "added", name)
    return added


def plain_plan(made: Plan) -> dict[str, Any]:
    """A plan as it is stored: items in order, sides as a string of 0 and 1, checks."""
    return {
        "order": list(made.order),
        "flipped": "".join("1" if each else "0" for each in made.flipped),
        "checks": [[after, check, int(flip)] for after, check, flip in made.checks],
    }


def annotator_by_name(connection: Connection, name: str) -> Any:
    """The row of a rater, by pseudonym; an unknown one is refused."""
    row = connection.execute(select(people).where(people.c.name == name)).mappings().first()
    if row is None:
        names = connection.execute(select(people.c.name).order_by(people.c.id)).scalars()
        raise UnknownName("rater", name, list(names))
    return row


def annotator_by_token(connection: Connection, token: str) -> Any:
    """The row of the annotator whose link carries a token; None where nobody's does."""
    query = select(people).where(people.c.token_hash == digest_of(token))
    return connection.execute(query).mappings().first()


def issue_links(store: Store, names: Sequence[str] = ()) -> list[tuple[str, str]]:
    """New tokens, as (rater, token): for all who never had a link, or for the raters named.

    The old link of a rater who is named stops working. Tokens are not stored.
    """
    with store.write() as connection:
        if names:
            rows = [annotator_by_name(connection, name) for name in names]
        else:
            query = select(people).where(
                people.c.token_hash.is_(None),
                people.c.erased.is_(None),
                people.c.consented.is_(None),
            )
            revoked = _subjects(connection, "revoked")
            found = connection.execute(query.order_by(people.c.id)).mappings()
            rows = [row for row in found if row["name"] not in revoked]
        issued = []
        for row in rows:
            if row["erased"] is not None:
                raise InputError(f"{row['name']} was erased", "add another annotator")
            token, digest = make_token()
            change = update(people).where(people.c.id == row["id"])
            connection.execute(change.values(token_hash=digest))
            note(connection, store.now(), "lead", "linked", row["name"])
            issued.append((row["name"], token))
    return issued


def add_links(store: Store, count: int) -> list[tuple[str, str]]:
    """More annotators with their links."""
    if count < 1:
        raise InputError(f"{count} annotators cannot be added", "give a positive number")
    most = store.config.study.most
    with store.write() as connection:
        known = connection.execute(select(func.count()).select_from(people)).scalar() or 0
        if known + count > most:
            raise InputError(
                f"{count} more annotators would make {known + count}, and study.most is {most}",
                f"add at most {max(0, most - known)}",
            )
        ids = add_annotators(store, connection, store.config, count)
        query = select(people.c.name).where(people.c.id.in_(ids)).order_by(people.c.id)
        names = list(connection.execute(query).scalars())
    return issue_links(store, names)


def revoke(store: Store, name: str) -> None:
    """Make a rater's link stop working; what they rated stays."""
    with store.write() as connection:
        row = annotator_by_name(connection, name)
        connection.execute(update(people).where(people.c.id == row["id"]).values(token_hash=None))
        note(connection, store.now(), "lead", "revoked", name)


def renew(store: Store, link: str) -> str:
    """A new token for the link of the "lead" or of "enrolment"; the old one stops working."""
    token, digest = make_token()
    column = {"lead": "lead_hash", "enrolment": "enrol_hash"}[link]
    with store.write() as connection:
        connection.execute(update(schema.study).values({column: digest}))
        note(connection, store.now(), "lead", "linked", link)
    return token


def address(store: Store) -> str:
    """What links begin with, as it was last kept; "" where it never was."""
    with store.read() as connection:
        return connection.execute(select(schema.study.c.url)).scalar() or ""


def keep_address(store: Store, base: str) -> None:
    """Keep what links begin with."""
    with store.write() as connection:
        connection.execute(update(schema.study).values(url=base))


@dataclass(frozen=True)
class Enrolled:
    """The token of someone who enrolled, or why they could not."""

    token: str = ""
    refusal: str = ""


def enrol(store: Store, person: str, session: str) -> Enrolled:
    """Take in whoever came by the enrolment link.

    `person` and `session` are Prolific's; who comes back with both gets a new link to the same
    place, and a person in another session is refused. Without a person everyone is new.
    """
    digest_of_session = digest_of(session)
    token, digest = make_token()
    with store.write() as connection:
        if not store.is_sqlite:
            store.locked(connection, schema.study, 1)
        if person:
            known = select(people).where(people.c.person == person)
            row = connection.execute(known).mappings().first()
            if row is not None:
                if not session or row["session_hash"] != digest_of_session:
                    return Enrolled(refusal="You have taken part in this study already.")
                change = update(people).where(people.c.id == row["id"])
                connection.execute(change.values(token_hash=digest))
                return Enrolled(token)
        count = connection.execute(select(func.count()).select_from(people)).scalar() or 0
        if count >= store.config.study.most:
            return Enrolled(refusal="The study has all the people that it needs.")
        (added,) = add_annotators(store, connection, store.config, 1)
        change = update(people).where(people.c.id == added)
        connection.execute(
            change.values(token_hash=digest, person=person or None, session_hash=digest_of_session)
        )
    return Enrolled(token)


def erase(store: Store, name: str) -> int:
    """Forget a person: their answers, their link and who they are; the number of answers.

    Their slots are open again. The log keeps the pseudonym, which then stands for nobody.
    """
    with store.write() as connection:
        row = annotator_by_name(connection, name)
        store.locked(connection, people, row["id"])
        tasks = schema.tasks
        done = connection.execute(delete(tasks).where(tasks.c.annotator_id == row["id"]))
        change = update(people).where(people.c.id == row["id"])
        connection.execute(
            change.values(
                token_hash=None,
                person=None,
                session_hash=None,
                consented=None,
                groups=None,
                instructed=None,
                finished=None,
                erased=store.now(),
            )
        )
        note(connection, store.now(), "lead", "erased", name)
    return int(done.rowcount)


def _subjects(connection: Connection, action: str) -> set[str]:
    log = schema.log
    return set(connection.execute(select(log.c.subject).where(log.c.action == action)).scalars())
