"""The tables of a study, the same in SQLite and PostgreSQL."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Boolean, Column, Connection, Float, ForeignKey, Integer, String, Table, Text

SCHEMA = 5
#: Kinds of units that annotators learn from before they rate.
LEARNING = ("training", "calibration")
KINDS = ("item", "attention", "gold", *LEARNING)

#: A winner as it is stored, whichever side it was shown on.
OUTCOMES = {"first": 0.0, "second": 1.0, "tie": 0.5}
#: The winner by the side that it was shown on, if the first response was on the left.
SIDES = {"left": 0.0, "right": 1.0, "tie": 0.5}
#: Why a rating is set aside that came when its item had all ratings.
SURPLUS = "surplus"

metadata = sa.MetaData()


def _required(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns in which every row has a value."""
    return [Column(name, kind, nullable=False) for name in names]


def _optional(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns in which a row may have no value."""
    return [Column(name, kind) for name in names]


def _table(name: str, *columns: Any) -> Table:
    return Table(name, metadata, Column("id", Integer, primary_key=True), *columns)


study = _table(
    "study",
    *_required(Integer, "schema"),
    *_required(sa.JSON, "config"),
    *_required(Float, "created"),
    *_optional(Float, "closed"),
    *_required(String(64), "lead_hash", "enrol_hash", "completion_code"),
    *_optional(Text, "url"),
)
units = _table(
    "units",
    *_required(String(16), "kind"),
    # Counts the items, and the checks by themselves, as the plans do.
    *_required(Integer, "number"),
    # What the lead sees of an item while the study is open.
    *_required(String(32), "label"),
    *_required(sa.JSON, "turns"),
    *_required(Text, "prompt_id", "first_id", "first", "second_id", "second", "rationale"),
    *_required(Float, "tolerance"),
    *_optional(Float, "reference"),
    # How many valid ratings the item is to get; it grows in an adaptive study.
    Column("wanted", Integer, nullable=False, default=0),
)
# The waves of an adaptive study; number 0 is the pilot.
waves = _table(
    "waves",
    Column("number", Integer, nullable=False, unique=True),
    *_required(Float, "planned"),
    # How many ratings it asks for.
    *_required(Integer, "ratings"),
    # Why no ratings are asked for any more: price, budget or raters; empty otherwise.
    Column("ending", String(16), nullable=False, default=""),
)
annotators = _table(
    "annotators",
    Column("name", String(32), nullable=False, unique=True),
    Column("number", Integer, nullable=False, unique=True),
    *_required(sa.JSON, "plan"),
    Column("token_hash", String(64), unique=True),
    Column("person", Text, unique=True),
    *_optional(String(64), "session_hash"),
    # A keyed hash of the address of whoever enrolled, until the comprehension check is passed.
    *_optional(String(64), "address_hash"),
    *_required(Float, "created"),
    # What they said of themselves, by the name of the question.
    *_optional(sa.JSON, "groups"),
    *_optional(Float, "consented", "instructed", "understood", "finished", "excluded", "erased"),
    # How often they failed the comprehension check before `understood`.
    Column("tries", Integer, nullable=False, default=0),
    Column("exclusion_reason", Text, nullable=False, default=""),
    # Whether the lead looked at the flags and dismissed them.
    Column("cleared", Boolean, nullable=False, default=False),
    # Whether the lead undid an exclusion.
    Column("kept", Boolean, nullable=False, default=False),
)
tasks = _table(
    "tasks",
    Column("code", String(32), nullable=False, unique=True),
    Column("annotator_id", ForeignKey("annotators.id"), nullable=False),
    Column("unit_id", ForeignKey("units.id"), nullable=False),
    *_required(String(16), "kind"),
    *_required(Integer, "position"),
    *_required(Boolean, "flipped"),
    *_required(Float, "lease_until", "shown"),
    # `answer` is a rating, or the winner as in OUTCOMES; an answered task without one was skipped.
    *_optional(Float, "answered", "answer", "draft"),
    # `sequence` counts an annotator's answers in the order in which they came, whatever the clock
    # said.
    *_optional(Integer, "sequence", "milliseconds"),
    # Counts the answers to this task, so that a form sent twice differs from a changed mind.
    Column("revision", Integer, nullable=False, default=0),
    Column("comment", Text, nullable=False, default=""),
    # Why the answer is not valid.
    Column("reason", Text, nullable=False, default=""),
    Column("valid", Boolean, nullable=False, default=False),
    # Whether the annotator went on from the feedback.
    Column("seen", Boolean, nullable=False, default=False),
    sa.UniqueConstraint("annotator_id", "unit_id"),
    sa.Index("tasks_by_unit", "unit_id"),
)
# Whom a wave asks for which rating; nobody in particular where there is no annotator.
requests = _table(
    "requests",
    Column("wave", Integer, nullable=False),
    Column("unit_id", ForeignKey("units.id"), nullable=False),
    Column("annotator_id", ForeignKey("annotators.id")),
    # Whether the annotator took it over from somebody who was away.
    Column("taken_over", Boolean, nullable=False, default=False),
)
log = _table(
    "log",
    *_required(Float, "at"),
    *_required(String(32), "actor", "action"),
    *_required(String(64), "subject"),
    *_required(Text, "detail"),
)

# The database itself refuses to change or remove a line of the log.
_LOG_TRIGGERS = {
    "sqlite": [
        """CREATE TRIGGER log_no_update BEFORE update ON log
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
        """CREATE TRIGGER log_no_delete BEFORE delete ON log
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    ],
    "postgresql": [
        """CREATE FUNCTION log_is_kept() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$""",
        """CREATE TRIGGER log_kept BEFORE UPDATE OR DELETE ON log
        FOR EACH ROW EXECUTE FUNCTION log_is_kept()""",
    ],
}


def _protect_log() -> None:
    """Let the triggers be created with the table of the log."""
    for dialect, statements in _LOG_TRIGGERS.items():
        for statement in statements:
            trigger: Any = sa.DDL(statement)  # type: ignore[no-untyped-call]
            sa.event.listen(log, "after_create", trigger.execute_if(dialect=dialect))


_protect_log()

#: What each schema added to the one before it.
ADDED = {
    2: ("tasks ADD COLUMN sequence INTEGER",),
    3: (
        "study ADD COLUMN url TEXT",
        "annotators ADD COLUMN groups JSON",
        "annotators ADD COLUMN tries INTEGER NOT NULL DEFAULT 0",
        "annotators ADD COLUMN understood FLOAT",
        "tasks ADD COLUMN comment TEXT NOT NULL DEFAULT ''",
    ),
    4: ("annotators ADD COLUMN address_hash VARCHAR(64)",),
    5: ("units ADD COLUMN wanted INTEGER NOT NULL DEFAULT 0",),
}
# Schema 1 had no sequence: answers are numbered in the order of their times.
_NUMBER_ANSWERS = """UPDATE tasks SET sequence = (
    SELECT COUNT(*) FROM tasks AS other
    WHERE other.annotator_id = tasks.annotator_id AND (other.answered < tasks.answered
        OR (other.answered = tasks.answered AND other.id <= tasks.id)))
WHERE answered IS NOT NULL"""


def upgrade_tables(connection: Connection) -> None:
    """Bring tables of an earlier schema to this one."""
    version = connection.execute(sa.select(study.c.schema).with_for_update()).scalar_one()
    for next_version in range(version + 1, SCHEMA + 1):
        for alteration in ADDED[next_version]:
            connection.exec_driver_sql(f"ALTER TABLE {alteration}")
    if version < 2:
        connection.exec_driver_sql(_NUMBER_ANSWERS)
    if version < 5:
        metadata.create_all(connection, tables=[waves, requests])
        ratings = study_row(connection)["config"]["study"]["ratings"]
        is_item = units.c.kind == "item"
        connection.execute(units.update().where(is_item).values(wanted=ratings))
    connection.execute(study.update().values(schema=SCHEMA))


def side_of(answer: float, flipped: bool) -> str:
    """Where a stored winner was shown: left, right or tie."""
    for side in SIDES:
        if outcome_of(side, flipped) == answer:
            return side
    raise ValueError(f"{answer} is not a winner")


def outcome_of(side: str, flipped: bool) -> float:
    """The winner on a side (left, right or tie), as it is stored."""
    if flipped:
        return 1.0 - SIDES[side]
    return SIDES[side]


def passed(answer: float, reference: float | None, tolerance: float) -> bool:
    """Whether an answer is within the tolerance of its reference, if it has one."""
    return reference is None or abs(answer - reference) <= tolerance + 1e-9


def study_row(connection: Connection) -> sa.RowMapping:
    """The one row of the study itself."""
    return connection.execute(sa.select(study)).mappings().one()


def whole_tasks(*where: Any) -> Any:
    """Query tasks with their annotator and their unit.

    Args:
        where: Conditions.

    Returns:
        A query of the tasks' columns, the annotator's name and groups, and the unit's columns
        other than its texts.
    """
    unit_columns = [
        units.c.prompt_id,
        units.c.label,
        units.c.first_id,
        units.c.second_id,
        units.c.reference,
        units.c.tolerance,
    ]
    return (
        sa.select(tasks, annotators.c.name, annotators.c.groups, *unit_columns)
        .join(annotators, tasks.c.annotator_id == annotators.c.id)
        .join(units, tasks.c.unit_id == units.c.id)
        .where(*where)
    )


def change(connection: Connection, table: Table, row_id: int, **values: Any) -> None:
    """Set columns of one row."""
    connection.execute(sa.update(table).where(table.c.id == row_id).values(**values))


def add_row(connection: Connection, table: Table, **values: Any) -> int:
    """Insert a row and return its id."""
    result: Any = connection.execute(table.insert().values(**values))
    return int(result.inserted_primary_key[0])


def note(
    connection: Connection, at: float, actor: str, action: str, subject: str, detail: str = ""
) -> None:
    """Add a line to the log, which holds no ratings.

    Args:
        connection: A transaction that writes.
        at: The time, in seconds since 1970.
        actor: study, lead or a pseudonym.
        action: What was done.
        subject: To whom or what.
        detail: More words.
    """
    add_row(connection, log, at=at, actor=actor, action=action, subject=subject, detail=detail)


def log_lines(connection: Connection) -> list[dict[str, Any]]:
    """All lines of the log, oldest first."""
    return [dict(row) for row in connection.execute(log.select().order_by(log.c.id)).mappings()]
