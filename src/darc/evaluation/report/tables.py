"""Frames as HTML tables: a difference and its interval in one cell, empty columns left out."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from darc.evaluation.frame import Cell, Frame, shown
from darc.views.page import element

OPEN_ROWS = 30
LONG = 48
CLIP = 300
# Of main, what the table of changes has not are averages that follow from it.
KEPT_IN_FILES = ("densities", "main", "points")
COUNTS = ("prompts", "win", "tie", "loss", "length", "prompts kept", "total", "per prompt", "n")


def frame_section(frame: Frame) -> str:
    """A frame's title, table and note; a long table is folded, the longest stay in files."""
    title = element("h3", frame.title, id=f"table-{frame.name}")
    if frame.name in KEPT_IN_FILES:
        rows = f"{len(frame):,} rows, in {frame.name}.csv."
        return title + element("p", rows, kind="pale")
    table = frame_table(by_gain(frame))
    if len(frame) > OPEN_ROWS:
        table = f"<details><summary>{len(frame)} rows</summary>{table}</details>"
    note = element("p", frame.note, kind="pale") if frame.note else ""
    return f"{title}{note}{table}"


def by_gain(frame: Frame) -> Frame:
    """The frame with the rules of each subset by their change, the largest first; others as is."""
    names = [name for name in ("delta_tradeoff", "delta_mean") if name in frame.columns]
    if frame.name != "human" or not names:
        return frame
    heads = [frame.columns.index(name) for name in ("source", "subset")]
    order = {tuple(row[place] for place in heads): at for at, row in enumerate(frame.rows[::-1])}

    def key(row: tuple[Cell, ...]) -> tuple[float, ...]:
        changes = [row[frame.columns.index(name)] for name in names]
        known = [-each if isinstance(each, float) and each == each else 0.0 for each in changes]
        return (-order[tuple(row[place] for place in heads)], *known)

    return replace(frame, rows=tuple(sorted(frame.rows, key=key)))


def frame_table(frame: Frame) -> str:
    """A table in a box that scrolls by itself; what excludes 0 is bold."""
    groups = _groups(frame)
    kinds = ["" if _numeric(frame, places) else "left" for _, places in groups]
    head = "".join(
        element("th", name, scope="col", **({"kind": kind} if kind else {}))
        for (name, _), kind in zip(groups, kinds, strict=True)
    )
    lines = []
    for row in frame.rows:
        cells = [
            _cell([row[place] for place in places], kind, name)
            for (name, places), kind in zip(groups, kinds, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    label = escape(frame.title)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _groups(frame: Frame) -> list[tuple[str, list[int]]]:
    """Columns that share a cell, with their name: (delta, low, high) go together."""
    names = list(frame.columns)
    groups: list[tuple[str, list[int]]] = []
    used: set[int] = set()
    for place, name in enumerate(names):
        if place in used or _idle(frame, place):
            continue
        part = _ends_of(name)
        if part is not None and all(end in names for end in part):
            places = [place, *(names.index(end) for end in part)]
            used |= set(places)
            what = name.removeprefix("delta_")
            said = "change [95 %]" if name == "delta" else f"{what} change [95 %]"
            groups.append(("value [95 %]" if name == "value" else said, places))
        else:
            groups.append((name.replace("_", " "), [place]))
    return groups


def _ends_of(name: str) -> tuple[str, str] | None:
    """The columns of the interval that belongs to a column."""
    if name == "value":
        return "low", "high"
    if name == "delta":
        return "low_delta", "high_delta"
    if name.startswith("delta_"):
        what = name.removeprefix("delta_")
        return f"low_{what}", f"high_{what}"
    return None


def _idle(frame: Frame, place: int) -> bool:
    """Whether a column says nothing: no cell filled, or one source for all rows."""
    cells = {row[place] for row in frame.rows}
    if frame.columns[place] in ("source", "length_unit") and len(cells) == 1:
        return True
    return all(shown(cell) in ("-", "") for cell in cells)


def _numeric(frame: Frame, places: Sequence[int]) -> bool:
    return all(
        cell is None or isinstance(cell, int | float)
        for row in frame.rows
        for cell in (row[place] for place in places)
    )


def _cell(cells: Sequence[Cell], kind: str, name: str) -> str:
    text = shown(cells[0])
    if name in COUNTS and isinstance(cells[0], float) and text != "-":
        text = f"{cells[0]:.1f}".removesuffix(".0")
    if len(cells) == 3:
        low, high = cells[1], cells[2]
        signed = "" if name.startswith("value") else "+"
        if isinstance(cells[0], float) and text != "-":
            text = _signed(cells[0], signed)
        if isinstance(low, float) and isinstance(high, float) and shown(low) != "-":
            text += f" [{_signed(low, signed)}, {_signed(high, signed)}]"
            if signed and (low > 0 or high < 0):
                kind = f"{kind} sure".strip()
    elif len(text) > LONG:
        kind = f"{kind} words".strip()
        text = text if len(text) <= CLIP else f"{text[:CLIP]}…"
    return element("td", text, **({"kind": kind} if kind else {}))


def _signed(number: float, sign: str) -> str:
    return f"{round(number, 9) + 0.0:{sign}.3f}"
