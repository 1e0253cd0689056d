"""Which column of a table plays which role."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from darc.errors import InputError, TableError, nearest
from darc.ratings.raw_rows import RawRows

#: The columns that a table of each layout must have.
REQUIRED = {
    "tidy": ("prompt_id", "candidate_id", "rater_id", "rating"),
    "wide": ("prompt_id", "candidate_id"),
    "pairwise": ("prompt_id", "left_id", "right_id", "rater_id", "winner"),
}
#: The columns that a table of each layout may have.
OPTIONAL = {"tidy": ("scorer_id", "rater_group"), "wide": ("scorer_id",), "pairwise": ()}
SYSTEM = "system"
#: All roles that a column may play.
ROLES = {SYSTEM}.union(*REQUIRED.values(), *OPTIONAL.values())
# How many columns an error lists.
_MAX_LISTED = 20
_UNNAMED = re.compile(r"(Unnamed: \d+)?")


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are."""

    #: "tidy", "wide" or "pairwise".
    layout: str
    #: The table's column for each role.
    columns: Mapping[str, str]
    #: The columns of a wide table that hold ratings, one per rater.
    raters: tuple[str, ...] = ()
    #: The other columns.
    extras: tuple[str, ...] = ()
    #: The one of the other columns that names a candidate's system, "" where none does.
    system: str = ""


def find_schema(
    table: RawRows, layout: str, columns: Mapping[str, str], raters: Iterable[str] | None
) -> Schema:
    """Find out what the columns of a table are.

    Args:
        table: The table.
        layout: "tidy", "wide", "pairwise", or "auto" to go by the names of the columns.
        columns: What the table calls the column of a role.
        raters: The columns of a wide table that hold ratings; without them all columns of numbers.

    Raises:
        TableError: A column is missing.
        InputError: Rater columns are given for a table that is not wide.
    """
    names = [name for name in table.names if is_named(name)]
    rater_columns = list(dict.fromkeys(raters or ()))
    if layout == "auto":
        layout = _find_layout(names, columns, rater_columns)
    if rater_columns and layout != "wide":
        raise InputError(
            f"{table.source}: rater columns are for the wide layout, and this table is {layout}",
            "leave them out",
        )
    roles = {role: columns.get(role, role) for role in REQUIRED[layout]}
    stated = [columns[role] for role in (*OPTIONAL[layout], SYSTEM) if role in columns]
    _check_present(table.source, names, [*roles.values(), *rater_columns, *stated])
    for role in OPTIONAL[layout]:
        name = columns.get(role, role)
        if name in names:
            roles[role] = name
    if layout == "pairwise":
        # What else a row says belongs to the comparison, not to one of its candidates.
        return Schema(layout, roles)
    system = columns.get(SYSTEM, SYSTEM)
    others = [name for name in names if name not in {*roles.values(), *roles}]
    if layout == "wide" and not rater_columns:
        rater_columns = _number_columns(table, roles, [name for name in others if name != system])
    extras = tuple(name for name in others if name not in rater_columns)
    if system not in extras:
        system = ""
    return Schema(layout, roles, tuple(rater_columns), extras, system)


def _find_layout(
    names: Sequence[str], columns: Mapping[str, str], rater_columns: Sequence[str]
) -> str:
    if rater_columns and set(rater_columns) <= set(names):
        return "wide"
    renamed = {role for role, name in columns.items() if name in names}
    return guess_layout({*names, *renamed})


def _number_columns(
    table: RawRows, roles: Mapping[str, str], candidates: Sequence[str]
) -> list[str]:
    """The columns of numbers of a wide table, one per rater."""
    numeric = [name for name in candidates if table.looks_numeric(name)]
    if not numeric:
        raise TableError(
            table.source,
            f"no column of numbers beside {' and '.join(roles.values())}",
            "a wide table has one column of ratings per rater; darc import reads decimal commas "
            "and words",
        )
    return numeric


def is_named(name: str) -> bool:
    """Whether a column is more than the row numbers that spreadsheets and data frames add."""
    return not _UNNAMED.fullmatch(name)


def guess_layout(names: set[str]) -> str:
    """The layout that a header with these names belongs to, even if it lacks a column."""
    if names & {"left_id", "right_id", "winner"}:
        return "pairwise"
    if names & {"rater_id", "rating"} or not names >= {"prompt_id", "candidate_id"}:
        return "tidy"
    return "wide"


def _check_present(source: str, names: Sequence[str], needed: Sequence[str]) -> None:
    """Raise a `TableError` that names the columns that are missing."""
    missing = [name for name in needed if name not in names]
    if not missing:
        return
    listed = ", ".join(names[:_MAX_LISTED]) or "none"
    if len(names) > _MAX_LISTED:
        listed += f" and {len(names) - _MAX_LISTED} more"
    noun = "column"
    if len(missing) > 1:
        noun = "columns"
    unused = [name for name in names if name not in needed]
    hint = f"say which one it is: --column {missing[0]}=ONE, or let darc import guess"
    for name in missing:
        suggestion = nearest(name, unused)
        if suggestion.startswith("did you mean"):
            hint = suggestion
            break
    missing_names = ", ".join(repr(name) for name in missing)
    raise TableError(source, f"missing {noun} {missing_names} (there are: {listed})", hint)
