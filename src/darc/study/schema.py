"""The tables of a study, the same in SQLite and PostgreSQL."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Boolean, Column, Connection, Float, ForeignKey, Integer, String, Table, Text

SCHEMA = 3
LEARNING = ("training", "calibration")
KINDS = ("item", "attention", "gold", *LEARNING)

# A winner as it is stored, whichever side it was shown on.
OUTCOMES = {"first": 0.0, "second": 1.0, "tie": 0.5}
# The winner by the side that it was shown on, the first one being on the left.
SIDES = {"left": 0.0, "right": 1.0, "tie": 0.5}
# Why a rating is set aside that came when its item had all of them.
SURPLUS = "surplus"

metadata = sa.MetaData()


def _given(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns that every row has a value in."""
    return [Column(name, kind, nullable=False) for name in names]


def _table(name: str, *columns: Any) -> Table:
    return Table(name, metadata, Column("id", Integer, primary_key=True), *columns)


study = _table(
    "study",
    *_given(Integer, "schema"),
    *_given(sa.JSON, "config"),
    *_given(Float, "created"),
    Column("closed", Float),
    *_given(String(64), "lead_hash", "enrol_hash", "completion_code"),
    Column("url", Text),
)
# `number` counts the items, and the checks by themselves, as the plans do. `label` is what the lead
# sees of an item while the study is open.
units = _table(
    "units",
    *_given(String(16), "kind"),
    *_given(Integer, "number"),
    *_given(String(32), "label"),
    *_given(sa.JSON, "turns"),
    *_given(Text, "prompt_id", "first_id", "first", "second_id", "second", "rationale"),
    *_given(Float, "tolerance"),
    Column("reference", Float),
)
# `groups`: what they said of themselves, by name; `tries`: how often they failed the comprehension
# check before `understood`. `cleared`: the lead looked at the flags; `kept`: the lead undid an
# exclusion.
annotators = _table(
    "annotators",
    Column("name", String(32), nullable=False, unique=True),
    Column("number", Integer, nullable=False, unique=True),
    *_given(sa.JSON, "plan"),
    Column("token_hash", String(64), unique=True),
    Column("person", Text, unique=True),
    Column("session_hash", String(64)),
    *_given(Float, "created"),
    Column("groups", sa.JSON),
    *(Column(name, Float) for name in ("consented", "instructed", "understood", "finished")),
    *(Column(name, Float) for name in ("excluded", "erased")),
    Column("tries", Integer, nullable=False, default=0),
    Column("exclusion_reason", Text, nullable=False, default=""),
    Column("cleared", Boolean, nullable=False, default=False),
    Column("kept", Boolean, nullable=False, default=False),
)
# `answer` is a rating, or the winner as OUTCOMES has it; an answered task without one
# was skipped. `revision` counts the answers given, so that a form sent twice is told from a changed
# mind. `sequence` counts an annotator's answers in the order in which they came, whatever the clock
# said.
tasks = _table(
    "tasks",
    Column("code", String(32), nullable=False, unique=True),
    Column("annotator_id", ForeignKey("annotators.id"), nullable=False),
    Column("unit_id", ForeignKey("units.id"), nullable=False),
    *_given(String(16), "kind"),
    *_given(Integer, "position"),
    *_given(Boolean, "flipped"),
    *_given(Float, "lease_until", "shown"),
    *(Column(name, Float) for name in ("answered", "answer", "draft")),
    *(Column(name, Integer) for name in ("sequence", "milliseconds")),
    Column("revision", Integer, nullable=False, default=0),
    Column("comment", Text, nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
    Column("valid", Boolean, nullable=False, default=False),
    Column("seen", Boolean, nullable=False, default=False),
    sa.UniqueConstraint("annotator_id", "unit_id"),
    sa.Index("tasks_by_unit", "unit_id"),
)
log = _table(
    "log",
    *_given(Float, "at"),
    *_given(String(32), "actor", "action"),
    *_given(String(64), "subject"),
    *_given(Text, "detail"),
)
# The database itself refuses to change or remove a line of the log.
KEPT = {
    "sqlite": tuple(
        f"""CREATE TRIGGER log_no_{verb} BEFORE {verb} ON log
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END"""
        for verb in ("update", "delete")
    ),
    "postgresql": (
        """CREATE FUNCTION log_is_kept() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$""",
        """CREATE TRIGGER log_kept BEFORE UPDATE OR DELETE ON log
        FOR EACH ROW EXECUTE FUNCTION log_is_kept()""",
    ),
}
for _dialect, _statements in KEPT.items():
    for _statement in _statements:
        _made: Any = sa.DDL(_statement)  # type: ignore[no-untyped-call]
        sa.event.listen(log, "after_create", _made.execute_if(dialect=_dialect))

# What each schema added to the one before it.
ADDED = {
    2: ("tasks ADD COLUMN sequence INTEGER",),
    3: (
        "study ADD COLUMN url TEXT",
        "annotators ADD COLUMN groups JSON",
        "annotators ADD COLUMN tries INTEGER NOT NULL DEFAULT 0",
        "annotators ADD COLUMN understood FLOAT",
        "tasks ADD COLUMN comment TEXT NOT NULL DEFAULT ''",
    ),
}


def upgrade_tables(connection: Connection) -> None:
    """Bring tables of an earlier schema to this one, answers in the order of their times."""
    before = connection.execute(sa.select(study.c.schema).with_for_update()).scalar_one()
    for version in range(before + 1, SCHEMA + 1):
        for change in ADDED[version]:
            connection.exec_driver_sql(f"ALTER TABLE {change}")
    if before < 2:
        connection.exec_driver_sql(
            """UPDATE tasks SET sequence = (
                SELECT COUNT(*) FROM tasks AS other
                WHERE other.annotator_id = tasks.annotator_id AND (other.answered < tasks.answered
                    OR (other.answered = tasks.answered AND other.id <= tasks.id)))
            WHERE answered IS NOT NULL"""
        )
    connection.execute(study.update().values(schema=SCHEMA))


def side_of(answer: float, flipped: bool) -> str:
    """Where a stored winner was shown: left, right or tie."""
    return next(side for side in SIDES if outcome_of(side, flipped) == answer)


def outcome_of(side: str, flipped: bool) -> float:
    """The winner on a side (left, right or tie), as it is stored."""
    return 1.0 - SIDES[side] if flipped else SIDES[side]


def passed(answer: float, reference: float | None, tolerance: float) -> bool:
    """Whether an answer is within the tolerance of its reference, if it has one."""
    return reference is None or abs(answer - reference) <= tolerance + 1e-9


def study_row(connection: Connection) -> sa.RowMapping:
    """The one row of the study itself."""
    return connection.execute(sa.select(study)).mappings().one()


def whole_tasks(*where: Any) -> Any:
    """A query of tasks, each with its annotator's name and groups and all but the unit's texts."""
    shown = ("prompt_id", "label", "first_id", "second_id", "reference", "tolerance")
    return (
        sa.select(tasks, annotators.c.name, annotators.c.groups, *(units.c[name] for name in shown))
        .join(annotators, tasks.c.annotator_id == annotators.c.id)
        .join(units, tasks.c.unit_id == units.c.id)
        .where(*where)
    )


def change(connection: Connection, table: Table, row_id: int, **values: Any) -> None:
    """Set columns of one row."""
    connection.execute(sa.update(table).where(table.c.id == row_id).values(**values))


def add_row(connection: Connection, table: Table, **values: Any) -> int:
    """Insert a row; its id."""
    done: Any = connection.execute(table.insert().values(**values))
    return int(done.inserted_primary_key[0])


def note(
    connection: Connection, at: float, actor: str, action: str, subject: str, detail: str = ""
) -> None:
    """Add a line to the log, which holds no ratings; `actor` is study, lead or a pseudonym."""
    add_row(connection, log, at=at, actor=actor, action=action, subject=subject, detail=detail)


def log_lines(connection: Connection) -> list[dict[str, Any]]:
    """All lines of the log, oldest first."""
    return [dict(row) for row in connection.execute(log.select().order_by(log.c.id)).mappings()]
