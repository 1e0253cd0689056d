"""Taking answers: once each, however often they are sent."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from darc.study import schema
from darc.study.exclusions import exclude, refill
from darc.study.leases import Task, count_taken_slots, lease_end, read_task
from darc.study.messages import Refusal
from darc.study.quality import care
from darc.study.schema import LEARNING, change, note, outcome_of
from darc.study.store import Store

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators

_SKIPPED = "skipped"
_MAX_COMPREHENSION_TRIES = 2


@dataclass(frozen=True)
class Submission:
    """An answer that a form sends."""

    #: The code of the task.
    code: str
    #: How many answers to this task the form knew of.
    revision: int
    #: A rating, a winner as it is stored, the side of a winner, or None to leave it to others.
    answer: float | str | None
    comment: str = ""


def submit(store: Store, annotator_id: int, submission: Submission) -> bool:
    """Keep an answer.

    A form that is sent twice, or found again with the back button, knows of too few answers and
    changes nothing. An answer whose slot went to others after its lease lapsed is kept as surplus,
    which is not valid.

    Args:
        store: The study.
        annotator_id: Who answers.
        submission: The answer.

    Returns:
        Whether the answer is new.

    Raises:
        Refusal: There is no such task, the study is closed, or a form that knows of too few
            answers says something else than what is kept.
    """
    with store.write() as connection:
        person = store.locked(connection, _annotators, annotator_id)
        task = _find_task(connection, annotator_id, submission.code)
        answer = _stored_answer(submission.answer, task)
        if not _is_current(connection, annotator_id, task, submission.revision):
            if task["answer"] != answer:
                raise Refusal("answered")
            return False
        if schema.study_row(connection)["closed"] is not None:
            raise Refusal("closed")
        may_skip = store.config.study.skip and task["kind"] not in LEARNING
        if answer is None and not may_skip:
            raise Refusal("no_task")
        _keep_answer(store, connection, person, task, answer, submission)
        if task["valid"] and answer is None:
            refill(store, connection, [task["unit_id"]])
        if task["kind"] in ("attention", "gold"):
            _exclude_if_careless(store, connection, person)
    return True


def _stored_answer(answer: float | str | None, task: Any) -> float | None:
    """An answer as it is stored: a side becomes the winner that was shown there."""
    if isinstance(answer, str):
        return outcome_of(answer, task["flipped"])
    return answer


def _is_current(connection: Connection, annotator_id: int, task: Any, revision: int) -> bool:
    """Whether a form knows of all answers to its task, and only the last answer is changed."""
    if task["revision"] != revision:
        return False
    if revision == 0:
        return True
    last = _find_last(connection, annotator_id)
    return last is not None and last["id"] == task["id"]


def _keep_answer(
    store: Store,
    connection: Connection,
    person: Any,
    task: Any,
    answer: float | None,
    submission: Submission,
) -> None:
    now = store.now()
    is_first = submission.revision == 0
    values: dict[str, Any] = {
        "answer": answer,
        "revision": submission.revision + 1,
        "draft": None,
        "comment": submission.comment if store.config.study.comments else "",
    }
    if is_first:
        values["answered"] = now
        # A clock that was set back must not make times negative.
        values["milliseconds"] = max(0, round(1000 * (now - task["shown"])))
        values["sequence"] = _next_sequence(connection, person["id"])
    else:
        note(connection, now, person["name"], "changed", submission.code)
    was_skipped = task["answer"] is None
    is_skipped = answer is None
    if is_first or was_skipped != is_skipped:
        values["reason"] = _invalid_reason(store, connection, person, task, answer)
        values["valid"] = not values["reason"]
    change(connection, _tasks, task["id"], **values)


def _next_sequence(connection: Connection, annotator_id: int) -> int:
    """The number of an annotator's next answer, from 1."""
    query = select(func.max(_tasks.c.sequence)).where(_tasks.c.annotator_id == annotator_id)
    return (connection.execute(query).scalar() or 0) + 1


def _invalid_reason(
    store: Store, connection: Connection, person: Any, task: Any, answer: float | None
) -> str:
    """Why an answer does not count; empty if it does."""
    if answer is None:
        return _SKIPPED
    if task["kind"] != "item":
        return ""
    if person["excluded"] is not None:
        return str(person["exclusion_reason"])
    now = store.now()
    unit = store.locked(connection, _units, task["unit_id"])
    has_slot = task["answered"] is None and task["lease_until"] > now
    slots_of_others = count_taken_slots(connection, task["unit_id"], now) - has_slot
    if slots_of_others >= unit["wanted"]:
        return schema.SURPLUS
    return ""


def _exclude_if_careless(store: Store, connection: Connection, person: Any) -> None:
    """Exclude an annotator who has failed too many checks, unless the lead decides on them."""
    if person["excluded"] is not None or person["kept"] or not store.config.quality.automatic:
        return
    query = schema.whole_tasks(
        _tasks.c.annotator_id == person["id"], _tasks.c.answered.is_not(None)
    )
    answers = connection.execute(query).mappings().all()
    reason = care(answers, store.config.quality).exclude
    if reason:
        exclude(store, connection, person, reason, "study")


def last_answer(store: Store, annotator_id: int) -> Task | None:
    """The answer given last, which may still be changed; answers of the training may not."""
    with store.read() as connection:
        row = _find_last(connection, annotator_id)
        if row is None:
            return None
        return read_task(connection, row)


def save_draft(store: Store, annotator_id: int, code: str, answer: float | str | None) -> None:
    """Keep what was chosen but not sent, and extend the lease.

    Args:
        store: The study.
        annotator_id: Who answers.
        code: The code of the task.
        answer: A rating or the side of a winner.

    Raises:
        Refusal: There is no such task.
    """
    with store.write() as connection:
        store.locked(connection, _annotators, annotator_id)
        task = _find_task(connection, annotator_id, code)
        if task["answered"] is not None:
            return
        lease_until = task["lease_until"]
        if lease_until > store.now():
            lease_until = lease_end(store)
        draft = _stored_answer(answer, task)
        change(connection, _tasks, task["id"], draft=draft, lease_until=lease_until)


def mark_seen(store: Store, annotator_id: int, code: str) -> None:
    """Go on from the feedback on a training task."""
    with store.write() as connection:
        task = _find_task(connection, annotator_id, code)
        if task["answered"] is not None:
            change(connection, _tasks, task["id"], seen=True)


def agree(store: Store, annotator_id: int, column: str, value: object = None) -> None:
    """Keep what an annotator agreed to or said, the first time.

    Args:
        store: The study.
        annotator_id: Who it is.
        column: The column of the annotators' table.
        value: What to keep there; by default the time.

    Raises:
        Refusal: The annotator has not consented.
    """
    with store.write() as connection:
        person = store.locked(connection, _annotators, annotator_id)
        if column != "consented" and person["consented"] is None:
            raise Refusal("no_consent")
        if person[column] is None:
            if value is None:
                value = store.now()
            change(connection, _annotators, annotator_id, **{column: value})


def finish(store: Store, annotator_id: int) -> None:
    """Keep that an annotator of an adaptive study waits for no further wave.

    Raises:
        Refusal: They have not rated anything.
    """
    with store.write() as connection:
        person = store.locked(connection, _annotators, annotator_id)
        if _find_last(connection, annotator_id) is None:
            raise Refusal("no_task")
        if person["finished"] is None:
            change(connection, _annotators, annotator_id, finished=store.now())


def understand(store: Store, annotator_id: int, tries: int, right: bool) -> None:
    """Keep an attempt at the comprehension check; too many wrong ones exclude the annotator.

    Args:
        store: The study.
        annotator_id: Who it is.
        tries: How many attempts the form knew of, so that a form that is sent twice counts once.
        right: Whether all answers are right.

    Raises:
        Refusal: The annotator has not consented.
    """
    with store.write() as connection:
        person = store.locked(connection, _annotators, annotator_id)
        if person["consented"] is None:
            raise Refusal("no_consent")
        if person["understood"] is not None or person["tries"] != tries:
            return
        if right:
            passed = {"understood": store.now(), "address_hash": None}
            change(connection, _annotators, annotator_id, **passed)
            return
        change(connection, _annotators, annotator_id, tries=tries + 1)
        if tries + 1 >= _MAX_COMPREHENSION_TRIES and person["excluded"] is None:
            exclude(store, connection, person, "comprehension", "study")


def _find_task(connection: Connection, annotator_id: int, code: str) -> Any:
    """The row of one of the annotator's own tasks."""
    query = select(_tasks).where(_tasks.c.code == code, _tasks.c.annotator_id == annotator_id)
    row = connection.execute(query).mappings().first()
    if row is None:
        raise Refusal("no_task")
    return row


def _find_last(connection: Connection, annotator_id: int) -> Any:
    """The row of the task that was answered last, or None."""
    query = select(_tasks).where(
        _tasks.c.annotator_id == annotator_id,
        _tasks.c.answered.is_not(None),
        _tasks.c.kind.not_in(LEARNING),
    )
    return connection.execute(query.order_by(_tasks.c.sequence.desc())).mappings().first()
