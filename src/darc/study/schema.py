"""The tables of a study, the same in SQLite and PostgreSQL."""

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

SCHEMA = 3

# A winner as it is stored, whichever side it was shown on.
OUTCOMES = {"first": 0.0, "second": 1.0, "tie": 0.5}

metadata = MetaData()

study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("schema", Integer, nullable=False),
    Column("config", JSON, nullable=False),
    Column("created", Float, nullable=False),
    Column("closed", Float),
    Column("lead_hash", String(64), nullable=False),
    Column("enrol_hash", String(64), nullable=False),
    Column("completion_code", String(64), nullable=False),
    Column("url", Text),
)
# `number` counts the items, and the checks by themselves, as the plans do. `label` is what the lead
# sees of an item while the study is open.
units = Table(
    "units",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("number", Integer, nullable=False),
    Column("label", String(32), nullable=False),
    Column("prompt_id", Text, nullable=False),
    Column("turns", JSON, nullable=False),
    Column("first_id", Text, nullable=False),
    Column("first", Text, nullable=False),
    Column("second_id", Text, nullable=False),
    Column("second", Text, nullable=False),
    Column("reference", Float),
    Column("tolerance", Float, nullable=False),
    Column("rationale", Text, nullable=False),
)
# `groups`: what they said of themselves, by name; `tries`: how often they failed the comprehension
# check before `understood`. `cleared`: the lead looked at the flags; `kept`: the lead undid an
# exclusion.
annotators = Table(
    "annotators",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(32), nullable=False, unique=True),
    Column("number", Integer, nullable=False, unique=True),
    Column("plan", JSON, nullable=False),
    Column("token_hash", String(64), unique=True),
    Column("person", Text, unique=True),
    Column("session_hash", String(64)),
    Column("created", Float, nullable=False),
    Column("consented", Float),
    Column("groups", JSON),
    Column("instructed", Float),
    Column("tries", Integer, nullable=False, default=0),
    Column("understood", Float),
    Column("finished", Float),
    Column("excluded", Float),
    Column("exclusion_reason", Text, nullable=False, default=""),
    Column("cleared", Boolean, nullable=False, default=False),
    Column("kept", Boolean, nullable=False, default=False),
    Column("erased", Float),
)
# `answer` is a rating, or the winner as OUTCOMES has it; an answered task without one
# was skipped. `revision` counts the answers given, so that a form sent twice is told from a changed
# mind. `sequence` counts an annotator's answers in the order in which they came, whatever the clock
# said.
tasks = Table(
    "tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("code", String(32), nullable=False, unique=True),
    Column("annotator_id", ForeignKey("annotators.id"), nullable=False),
    Column("unit_id", ForeignKey("units.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("position", Integer, nullable=False),
    Column("flipped", Boolean, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("shown", Float, nullable=False),
    Column("answered", Float),
    Column("sequence", Integer),
    Column("revision", Integer, nullable=False, default=0),
    Column("answer", Float),
    Column("draft", Float),
    Column("comment", Text, nullable=False, default=""),
    Column("milliseconds", Integer),
    Column("valid", Boolean, nullable=False, default=False),
    Column("reason", Text, nullable=False, default=""),
    Column("seen", Boolean, nullable=False, default=False),
    UniqueConstraint("annotator_id", "unit_id"),
    Index("tasks_by_unit", "unit_id"),
)
log = Table(
    "log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", String(32), nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("detail", Text, nullable=False),
)


REFUSE = "BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END"
SQLITE = tuple(
    f"CREATE TRIGGER log_no_{verb} BEFORE {verb} ON log {REFUSE}" for verb in ("update", "delete")
)
POSTGRESQL = (
    """CREATE FUNCTION log_is_kept() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$""",
    """CREATE TRIGGER log_kept BEFORE UPDATE OR DELETE ON log
    FOR EACH ROW EXECUTE FUNCTION log_is_kept()""",
)


def create_tables(connection: Connection) -> None:
    """Make all tables; the database itself refuses to change or remove a line of the log."""
    metadata.create_all(connection)
    for statement in SQLITE if connection.dialect.name == "sqlite" else POSTGRESQL:
        connection.exec_driver_sql(statement)


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


def upgrade_tables(connection: Connection, before: int) -> None:
    """Bring tables of an earlier schema to this one, answers in the order of their times."""
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
    if answer == OUTCOMES["tie"]:
        return "tie"
    return "right" if (answer == OUTCOMES["second"]) != flipped else "left"


def outcome_of(side: str, flipped: bool) -> float:
    """The winner on a side (left, right or tie), as it is stored."""
    if side == "tie":
        return OUTCOMES["tie"]
    return OUTCOMES["second" if (side == "right") != flipped else "first"]


def note(
    connection: Connection, at: float, actor: str, action: str, subject: str, detail: str = ""
) -> None:
    """Add a line to the log; `actor` is study, lead or a rater's pseudonym.

    The log holds pseudonyms and no ratings.
    """
    row = {"at": at, "actor": actor, "action": action, "subject": subject, "detail": detail}
    connection.execute(log.insert().values(**row))


def log_lines(connection: Connection) -> list[dict[str, Any]]:
    """All lines of the log, oldest first."""
    rows = connection.execute(log.select().order_by(log.c.id)).mappings()
    return [dict(row) for row in rows]
