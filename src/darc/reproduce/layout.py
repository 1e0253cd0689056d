"""Tables in the layout of a paper: grouped columns, blocks of rows, and the best numbers marked."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Cell = float | int | str | None
Mark = Literal["", "best", "second"]

_LATEX_ESCAPES = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
_LATEX_WORDS = {
    "epsilon": r"$\epsilon$",
    "-tau": r"-$\tau$",
    "lambda": r"$\lambda$",
    "sigma": r"$\sigma$",
    "delta": r"$\Delta$",
    "N_aug": r"$N_{\mathrm{aug}}$",
}
_MARKS = {"best": r"\textbf{%s}", "second": r"\underline{%s}"}
_MARKDOWN_MARKS = {"best": "**%s**", "second": "_%s_"}


@dataclass(frozen=True)
class Column:
    """A column of numbers."""

    label: str
    #: The headings above it, the widest first.
    groups: tuple[str, ...] = ()
    #: Whether the largest or the lowest number is the best; nothing is marked without it.
    best: Literal["", "high", "low"] = ""
    digits: int = 2


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    #: What stands before the numbers, one text per column of labels.
    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    #: What the paper prints in these cells, None where it prints nothing.
    printed: tuple[Cell, ...] = ()
    #: Whether the row is among those of which the best is marked.
    ranked: bool = True


@dataclass(frozen=True)
class Block:
    """Rows under a heading of their own."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class PaperTable:
    """A table in the paper's layout."""

    name: str
    title: str
    #: The headings of the columns of labels.
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    note: str = ""

    @property
    def rows(self) -> list[Row]:
        """The rows of all blocks."""
        return [row for block in self.blocks for row in block.rows]

    @property
    def is_empty(self) -> bool:
        """Whether no cell has a value."""
        return all(cell is None for row in self.rows for cell in row.cells)


def marks_of(table: PaperTable, block: Block) -> list[list[Mark]]:
    """Which cells of a block are the best and the second best of their column.

    Equal numbers, as they are printed, share a mark.

    Args:
        table: The table.
        block: One of its blocks.

    Returns:
        One mark per row and column.
    """
    marks: list[list[Mark]] = [[""] * len(table.columns) for _ in block.rows]
    for place, column in enumerate(table.columns):
        if not column.best:
            continue
        values = {}
        for number, row in enumerate(block.rows):
            cell = row.cells[place]
            if row.ranked and isinstance(cell, int | float):
                values[number] = round(float(cell), column.digits)
        order = sorted(set(values.values()), reverse=column.best == "high")
        if len(order) < 2:
            # Where all are equal, none is the best.
            continue
        for number, value in values.items():
            if value == order[0]:
                marks[number][place] = "best"
            elif value == order[1]:
                marks[number][place] = "second"
    return marks


def cell_text(cell: Cell, digits: int = 2) -> str:
    """A cell as people read it, a dash where there is nothing."""
    if cell is None:
        return "-"
    if isinstance(cell, float) and cell != cell:
        return "-"
    if isinstance(cell, str):
        return cell
    return f"{cell + 0.0:.{digits}f}"


def csv_text(table: PaperTable) -> str:
    """Comma-separated values: numbers in full, and the paper's beside ours."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = [" / ".join((*column.groups, column.label)) for column in table.columns]
    has_printed = any(row.printed for row in table.rows)
    header = ["block", *table.labels]
    for name in names:
        header.append(name)
        if has_printed:
            header.append(f"{name} (paper)")
    writer.writerow(header)
    for block in table.blocks:
        for row in block.rows:
            cells: list[Cell] = [block.title, *row.labels]
            printed = row.printed or (None,) * len(row.cells)
            for cell, paper_cell in zip(row.cells, printed, strict=True):
                cells.append(_csv_cell(cell))
                if has_printed:
                    cells.append(_csv_cell(paper_cell))
            writer.writerow(cells)
    return file.getvalue()


def _csv_cell(cell: Cell) -> Cell:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return cell


def markdown_text(table: PaperTable) -> str:
    """A pipe table; headings of groups are joined, blocks are rows in italics."""
    names = [" ".join((*column.groups, column.label)) for column in table.columns]
    header = [*table.labels, *names]
    lines = [f"**{table.title}**", "", _pipe_row(header)]
    lines.append(_pipe_row(["---"] * len(table.labels) + ["---:"] * len(names)))
    for block in table.blocks:
        if block.title:
            lines.append(_pipe_row([f"_{block.title}_", *[""] * (len(header) - 1)]))
        for row, marks in zip(block.rows, marks_of(table, block), strict=True):
            lines.append(_pipe_row([*row.labels, *_marked_cells(table, row, marks)]))
    if table.note:
        lines += ["", table.note]
    return "\n".join([*lines, ""])


def _marked_cells(table: PaperTable, row: Row, marks: Sequence[Mark]) -> list[str]:
    texts = []
    for column, cell, mark in zip(table.columns, row.cells, marks, strict=True):
        text = cell_text(cell, column.digits)
        texts.append(_MARKDOWN_MARKS.get(mark, "%s") % text)
    return texts


def _pipe_row(texts: Sequence[str]) -> str:
    cleaned = [text.replace("|", "\\|").replace("\n", " ") for text in texts]
    return f"| {' | '.join(cleaned)} |"


def latex_text(table: PaperTable) -> str:
    """A table with booktabs: grouped headings, blocks, the best in bold.

    The second best is underlined.
    """
    width = len(table.labels) + len(table.columns)
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        r"\small",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{{'l' * len(table.labels)}{'r' * len(table.columns)}}}",
        r"\toprule",
        *_latex_headings(table),
        r"\midrule",
    ]
    for number, block in enumerate(table.blocks):
        if number:
            lines.append(r"\midrule")
        if block.title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{latex(block.title)}}}}} \\")
        lines += _latex_rows(table, block)
    lines += [
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\caption{{{latex(f'{table.title}. {table.note}'.strip())}}}",
        rf"\label{{tab:{table.name.replace('_', '-')}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _latex_headings(table: PaperTable) -> list[str]:
    depth = max((len(column.groups) for column in table.columns), default=0)
    lines = []
    for level in range(depth):
        cells = [""] * len(table.labels)
        rules = []
        for start, size, text in group_spans(table, level):
            cells.append(rf"\multicolumn{{{size}}}{{c}}{{{latex(text)}}}")
            first = len(table.labels) + start + 1
            rules.append(rf"\cmidrule(lr){{{first}-{first + size - 1}}}")
        lines.append(" & ".join(cells) + r" \\")
        lines.append(" ".join(rules))
    names = [latex(text) for text in (*table.labels, *(c.label for c in table.columns))]
    arrows = [""] * len(table.labels)
    arrows += [
        {"high": r"$\uparrow$", "low": r"$\downarrow$"}.get(c.best, "") for c in table.columns
    ]
    lines.append(" & ".join(f"{n}{a}" for n, a in zip(names, arrows, strict=True)) + r" \\")
    return lines


def group_spans(table: PaperTable, level: int) -> list[tuple[int, int, str]]:
    """The groups of a level: where each begins, how wide it is, and its text."""
    spans: list[tuple[int, int, str]] = []
    before: tuple[str, ...] | None = None
    for place, column in enumerate(table.columns):
        key = column.groups[: level + 1]
        if key == before:
            start, size, text = spans[-1]
            spans[-1] = (start, size + 1, text)
        else:
            spans.append((place, 1, column.groups[level]))
        before = key
    return spans


def _latex_rows(table: PaperTable, block: Block) -> list[str]:
    lines = []
    last_first = ""
    for number, (row, marks) in enumerate(zip(block.rows, marks_of(table, block), strict=True)):
        labels = [latex(label) for label in row.labels]
        if len(row.labels) > 1:
            if row.labels[0] == last_first:
                labels[0] = ""
            elif number:
                lines.append(r"\addlinespace")
            last_first = row.labels[0]
        cells = []
        for column, cell, mark in zip(table.columns, row.cells, marks, strict=True):
            cells.append(_MARKS.get(mark, "%s") % latex(cell_text(cell, column.digits)))
        lines.append(" & ".join([*labels, *cells]) + r" \\")
    return lines


def latex(text: str) -> str:
    """A text with its special letters escaped, and the names of rules and symbols set as such."""
    escaped = text.translate(_LATEX_ESCAPES)
    for word, symbol in _LATEX_WORDS.items():
        escaped = escaped.replace(word.translate(_LATEX_ESCAPES), symbol)
    return escaped


def document(tables: Sequence[str], figures: Sequence[str] = ()) -> str:
    """A LaTeX document that includes files of tables and figures.

    Args:
        tables: The names of files with tables.
        figures: The names of files with pictures.

    Returns:
        The text of the document.
    """
    lines = [
        r"\documentclass{article}",
        r"\usepackage[margin=1.5cm]{geometry}",
        r"\usepackage{booktabs}",
        r"\usepackage{graphicx}",
        r"\begin{document}",
    ]
    lines += [rf"\input{{{name}}}" for name in tables]
    lines += [rf"\noindent\includegraphics[width=\linewidth]{{{name}}}\par" for name in figures]
    lines.append(r"\end{document}")
    return "\n".join(lines) + "\n"
