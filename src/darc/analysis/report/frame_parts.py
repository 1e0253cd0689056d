"""What figures read from frames: columns, parts, and the methods worth drawing."""

from collections.abc import Sequence
from typing import Any

from darc.analysis.evaluate.methods import BASELINE
from darc.analysis.frame import Frame

# Drawn first if there is no room for all methods, whatever their results.
PREFERRED = ("auto", "epsilon", "entropic", "tau", "lcb", "cvar", "penalty")


def distinct_cells(frame: Frame, column: str) -> list[str]:
    """The different cells of a column as text, in order of appearance."""
    return list(dict.fromkeys(str(cell) for cell in frame.column(column)))


def numbers(frame: Frame, column: str) -> list[float]:
    """A column as numbers, NaN where there is none."""
    cells = frame.column(column)
    return [float(cell) if isinstance(cell, int | float) else float("nan") for cell in cells]


def frame_parts(frame: Frame, *columns: str) -> list[tuple[Any, ...]]:
    """Divide a frame by the different cells of some columns.

    Args:
        frame: The frame.
        *columns: The columns.

    Returns:
        The cells of each part, followed by the part.
    """
    if not columns:
        return [(frame,)]
    first, *others = columns
    parts = []
    for cell in distinct_cells(frame, first):
        rows = frame.where(**{first: cell})
        parts += [(cell, *part) for part in frame_parts(rows, *others)]
    return parts


def choose_methods(methods: Sequence[str], limit: int) -> list[str]:
    """At most `limit` methods without Best-of-K, well-known rules first."""
    others = [method for method in methods if method != BASELINE]
    preferred = [method for method in PREFERRED if method in others]
    rest = [method for method in others if method not in preferred]
    return (preferred + rest)[:limit]


def not_drawn_note(drawn_methods: Sequence[str], methods: Sequence[str]) -> str:
    """A sentence on the methods that are not drawn, empty for none."""
    others = [method for method in methods if method not in drawn_methods and method != BASELINE]
    if not others:
        return ""
    return f" Not drawn: {', '.join(others)}; the table has them."


def metric_name(name: str) -> str:
    """A metric as people read it."""
    if name.startswith("cvar_"):
        return f"CVaR {name.removeprefix('cvar_')} %"
    return name


def tail_name(frame: Frame) -> str:
    """What the CVaR is called in a frame with its changes."""
    column = next(name for name in frame.columns if name.startswith("delta_cvar"))
    return column.removeprefix("delta_")
