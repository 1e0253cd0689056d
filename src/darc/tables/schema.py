"""Which column plays which part."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from darc.errors import InputError, TableError, UnknownName, nearest

REQUIRED = {
    "tidy": ("prompt_id", "candidate_id", "rater_id", "rating"),
    "wide": ("prompt_id", "candidate_id"),
    "pairwise": ("prompt_id", "left_id", "right_id", "rater_id", "winner"),
}
OPTIONAL = {"tidy": ("scorer_id", "rater_group"), "wide": ("scorer_id",), "pairwise": ()}
SYSTEM = "system"
LAYOUTS = tuple(REQUIRED)
LISTED = 20
PARTS = sorted(
    {
        SYSTEM,
        *(name for parts in (REQUIRED, OPTIONAL) for names in parts.values() for name in names),
    }
)
_UNNAMED = re.compile(r"(Unnamed: \d+)?")


class NamedColumns(Protocol):
    """What a table is known by: its columns."""

    source: str
    names: tuple[str, ...]

    def looks_numeric(self, name: str) -> bool:
        """Whether a column seems to hold numbers."""
        ...


@dataclass(frozen=True)
class Schema:
    """The layout, the file's column for each part, the rater columns (wide), and the rest.

    `system` is that of the other columns that names a candidate's system, "" where none does.
    """

    layout: str
    columns: Mapping[str, str]
    raters: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    raters_given: bool = False
    system: str = ""


def check_layout(name: str) -> None:
    """Refuse a layout that is neither known nor "auto"."""
    if name not in ("auto", *LAYOUTS):
        raise UnknownName("layout", name, ("auto", *LAYOUTS))


def check_columns(columns: Mapping[str, str]) -> None:
    """Refuse to rename a column that no layout has."""
    for part in columns:
        if part not in PARTS:
            raise UnknownName("column", part, PARTS)


def decide(
    table: NamedColumns, layout: str, columns: Mapping[str, str], raters: Iterable[str] | None
) -> Schema:
    """The schema of a table; missing columns are refused."""
    names = [name for name in table.names if is_named(name)]
    chosen = list(dict.fromkeys(raters or ()))
    if layout == "auto" and chosen and set(chosen) <= set(names):
        layout = "wide"
    elif layout == "auto":
        layout = guess_layout({*names, *(part for part in columns if columns[part] in names)})
    if chosen and layout != "wide":
        raise InputError(
            f"{table.source}: rater columns are for the wide layout, and this table is {layout}",
            "leave them out",
        )
    parts = {part: columns.get(part, part) for part in REQUIRED[layout]}
    _check_present(table.source, names, [*parts.values(), *chosen])
    for part in OPTIONAL[layout]:
        if part in columns:
            _check_present(table.source, names, [columns[part]])
        if columns.get(part, part) in names:
            parts[part] = columns.get(part, part)
    taken = {*parts.values(), *parts}
    others = [name for name in names if name not in taken]
    if layout == "pairwise":
        # What else a row says belongs to the comparison, not to one of its candidates.
        return Schema(layout, parts)
    system = columns.get(SYSTEM, SYSTEM)
    if SYSTEM in columns:
        _check_present(table.source, names, [system])
    system = system if system in others else ""
    if layout == "tidy":
        return Schema(layout, parts, (), tuple(others), system=system)
    rated = chosen or [n for n in others if n != system and table.looks_numeric(n)]
    if not rated:
        raise TableError(
            table.source,
            f"no column of numbers beside {' and '.join(parts.values())}",
            "a wide table has one column of ratings a rater",
        )
    rest = tuple(name for name in others if name not in rated)
    system = system if system in rest else ""
    return Schema(layout, parts, tuple(rated), rest, raters_given=bool(chosen), system=system)


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
