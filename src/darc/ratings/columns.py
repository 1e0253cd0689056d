"""Which column plays which part."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from darc.errors import InputError, TableError, nearest
from darc.ratings.raw_rows import RawRows

REQUIRED = {
    "tidy": ("prompt_id", "candidate_id", "rater_id", "rating"),
    "wide": ("prompt_id", "candidate_id"),
    "pairwise": ("prompt_id", "left_id", "right_id", "rater_id", "winner"),
}
OPTIONAL = {"tidy": ("scorer_id", "rater_group"), "wide": ("scorer_id",), "pairwise": ()}
SYSTEM = "system"
PARTS = {SYSTEM}.union(*REQUIRED.values(), *OPTIONAL.values())
LISTED = 20
_UNNAMED = re.compile(r"(Unnamed: \d+)?")


@dataclass(frozen=True)
class Schema:
    """The layout, the file's column for each part, the rater columns (wide), and the rest.

    `system` is that of the other columns that names a candidate's system, "" where none does.
    """

    layout: str
    columns: Mapping[str, str]
    raters: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    system: str = ""


def decide(
    table: RawRows, layout: str, columns: Mapping[str, str], raters: Iterable[str] | None
) -> Schema:
    """The schema of a table; missing columns are refused."""
    names = [name for name in table.names if is_named(name)]
    chosen = list(dict.fromkeys(raters or ()))
    if layout == "auto":
        renamed = (part for part in columns if columns[part] in names)
        wide = chosen and set(chosen) <= set(names)
        layout = "wide" if wide else guess_layout({*names, *renamed})
    if chosen and layout != "wide":
        raise InputError(
            f"{table.source}: rater columns are for the wide layout, and this table is {layout}",
            "leave them out",
        )
    parts = {part: columns.get(part, part) for part in REQUIRED[layout]}
    given = [columns[part] for part in (*OPTIONAL[layout], SYSTEM) if part in columns]
    _check_present(table.source, names, [*parts.values(), *chosen, *given])
    found = {part: columns.get(part, part) for part in OPTIONAL[layout]}
    parts |= {part: name for part, name in found.items() if name in names}
    if layout == "pairwise":
        # What else a row says belongs to the comparison, not to one of its candidates.
        return Schema(layout, parts)
    system = columns.get(SYSTEM, SYSTEM)
    others = [name for name in names if name not in {*parts.values(), *parts}]
    rated: list[str] = []
    if layout == "wide":
        rated = chosen or [n for n in others if n != system and table.looks_numeric(n)]
        if not rated:
            raise TableError(
                table.source,
                f"no column of numbers beside {' and '.join(parts.values())}",
                "a wide table has one column of ratings a rater; darc import reads decimal commas "
                "and words",
            )
    rest = tuple(name for name in others if name not in rated)
    return Schema(layout, parts, tuple(rated), rest, system if system in rest else "")


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


def _check_present(source: str, names: list[str], needed: list[str]) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        few = "column" if len(missing) == 1 else "columns"
        found = ", ".join(names[:LISTED]) or "none"
        if len(names) > LISTED:
            found += f" and {len(names) - LISTED} more"
        hints = [nearest(name, [n for n in names if n not in needed]) for name in missing]
        close = next((hint for hint in hints if hint.startswith("did you mean")), "")
        raise TableError(
            source,
            f"missing {few} {', '.join(map(repr, missing))} (there are: {found})",
            close or f"say which one it is: --column {missing[0]}=ONE, or let darc import guess",
        )
