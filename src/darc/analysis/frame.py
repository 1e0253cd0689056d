"""A small table of named columns, and its forms as text."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from darc.errors import InputError, UnknownName
from darc.files import atomic_writer
from darc.settings.toml_file import read_toml

Cell = str | float | int | None
Record = dict[str, Any]
#: The titles and notes of tables, and the sentences of reports.
WORDS = read_toml(Path(__file__).with_name("report.toml"))

_LATEX_ESCAPES = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


@dataclass(frozen=True)
class Frame:
    """Rows of cells under named columns; numbers stay numbers until they are written."""

    #: The stem of its files.
    name: str
    #: Its caption.
    title: str
    #: The names of the columns.
    columns: tuple[str, ...]
    #: The cells of each row, in the order of the columns.
    rows: tuple[tuple[Cell, ...], ...]
    #: What a reader must know of it.
    note: str = ""

    @classmethod
    def of(cls, name: str, title: str, rows: Iterable[Record], note: str = "") -> "Frame":
        """Make a frame of records; numpy's numbers become Python's.

        Args:
            name: The name of its file.
            title: What it shows.
            rows: The records, with equal keys.
            note: What stands below it.

        Raises:
            ValueError: Two rows have different keys.
        """
        records = list(rows)
        columns: tuple[str, ...] = ()
        if records:
            columns = tuple(records[0])
        for record in records:
            if tuple(record) != columns:
                raise ValueError(f"{name}: a row has other columns than {', '.join(columns)}")
        cells = tuple(tuple(map(_plain_cell, record.values())) for record in records)
        return cls(name, title, columns, cells, note)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Cell]:
        """The cells of one column.

        Args:
            name: The name of the column.
        """
        index = self._index(name)
        return [row[index] for row in self.rows]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as mappings, NaN as None."""
        return [
            {name: _without_nan(cell) for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]

    def where(self, **cells: Cell) -> "Frame":
        """The rows that have all of these cells, by column.

        Args:
            **cells: The wanted cells, by the names of columns.
        """
        conditions = self._by_index(cells)
        return self._with_rows(
            row for row in self.rows if all(row[index] == cell for index, cell in conditions)
        )

    def without(self, **cells: Cell) -> "Frame":
        """The rows that have none of these cells, by column.

        Args:
            **cells: The unwanted cells, by the names of columns.
        """
        unwanted = self._by_index(cells)
        return self._with_rows(
            row for row in self.rows if all(row[index] != cell for index, cell in unwanted)
        )

    def csv(self) -> str:
        """Comma-separated values, numbers in full, NaN and None empty."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        for record in self.records():
            writer.writerow(_csv_cell(cell) for cell in record.values())
        return file.getvalue()

    def markdown(self, digits: int = 3) -> str:
        """A pipe table under the title, with the note below.

        Args:
            digits: How many digits numbers have.
        """
        alignment = ["---:" if self.numeric(index) else "---" for index in range(len(self.columns))]
        lines = [_pipe_row(self.columns), _pipe_row(alignment)]
        for row in self.rows:
            texts = [cell_text(cell, digits) for cell in row]
            lines.append(_pipe_row([text.replace("|", "\\|").replace("\n", " ") for text in texts]))
        if self.note:
            lines += ["", self.note]
        return "\n".join([f"**{self.title}**", "", *lines, ""])

    def latex(self, digits: int = 3) -> str:
        """A tabular without packages, every special letter escaped.

        Args:
            digits: How many digits numbers have.
        """
        alignment = "".join(
            "r" if self.numeric(index) else "l" for index in range(len(self.columns))
        )
        lines = [
            f"% {self.title}",
            f"\\begin{{tabular}}{{{alignment}}}",
            "\\hline",
            f"{_latex_row(self.columns)} \\hline",
        ]
        lines += [_latex_row([cell_text(cell, digits) for cell in row]) for row in self.rows]
        lines += ["\\hline", "\\end{tabular}"]
        if self.note:
            lines.append(f"% {self.note}")
        return "\n".join(line.replace("\n", " ") for line in lines) + "\n"

    def numeric(self, index: int) -> bool:
        """Whether the cells of a column are numbers, or absent.

        Args:
            index: The place of the column.
        """
        cells = [row[index] for row in self.rows]
        return bool(cells) and all(cell is None or isinstance(cell, int | float) for cell in cells)

    def _index(self, name: str) -> int:
        if name not in self.columns:
            raise UnknownName("column", name, self.columns)
        return self.columns.index(name)

    def _by_index(self, cells: Mapping[str, Cell]) -> list[tuple[int, Cell]]:
        return [(self._index(name), cell) for name, cell in cells.items()]

    def _with_rows(self, rows: Iterable[tuple[Cell, ...]]) -> "Frame":
        return replace(self, rows=tuple(rows))


def table(name: str, rows: Iterable[Record], /, **values: object) -> Frame:
    """Make the frame of this name, with its title and its note.

    Args:
        name: The name of the table in the file of words.
        rows: The rows.
        **values: What fills the gaps of the note.
    """
    words = WORDS["tables"][name]
    return Frame.of(name, words["title"], rows, words.get("note", "").format(**values))


#: The forms of a frame by the ending of its file.
FORMS: Mapping[str, Callable[[Frame], str]] = {
    ".csv": Frame.csv,
    ".md": Frame.markdown,
    ".tex": Frame.latex,
}


def cell_text(cell: Cell, digits: int = 3) -> str:
    """A cell as people read it: a dash where there is nothing, small numbers by their exponent."""
    cell = _without_nan(cell)
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return str(cell)
    if 0 < abs(cell) < 10.0**-digits:
        return f"{cell:.1e}"
    # Sums in another order must not print another last digit.
    return f"{round(cell, digits + 6) + 0.0:.{digits}f}"


def joined(frames: Iterable[Frame]) -> list[Frame]:
    """Make one frame of those of one name, in order of first appearance; empty ones are left out.

    A column that only some sources have (the worst group, where raters have groups) is absent in
    the rows of the others.
    """
    by_name: dict[str, list[Frame]] = {}
    for frame in frames:
        if len(frame):
            by_name.setdefault(frame.name, []).append(frame)
    return [_joined_frame(same_name) for same_name in by_name.values()]


def _joined_frame(frames: Sequence[Frame]) -> Frame:
    """One frame of the rows of several, with the columns and the notes of all of them."""
    columns = tuple(dict.fromkeys(name for frame in frames for name in frame.columns))
    rows: list[tuple[Cell, ...]] = []
    for frame in frames:
        for row in frame.rows:
            cells = dict(zip(frame.columns, row, strict=True))
            rows.append(tuple(cells.get(name) for name in columns))
    note = ""
    for frame in frames:
        if frame.note not in note:
            note = f"{note} {frame.note}".strip()
    return replace(frames[0], columns=columns, rows=tuple(rows), note=note)


def write_frames(frames: Iterable[Frame], folder: Path) -> list[Path]:
    """Write each frame that has rows as CSV, Markdown and LaTeX.

    Args:
        frames: The frames.
        folder: Where the files go; it is made if it does not exist.

    Returns:
        The files.

    Raises:
        InputError: If the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot write {folder}: {problem.strerror}", "name a folder") from None
    paths = []
    for frame in frames:
        if not len(frame):
            continue
        for suffix, form in FORMS.items():
            path = folder / f"{frame.name}{suffix}"
            with atomic_writer(path) as file:
                file.write(form(frame))
            paths.append(path)
    return paths


def _plain_cell(cell: Any) -> Cell:
    """A cell with numpy's numbers as Python's."""
    if hasattr(cell, "item"):
        return cell.item()
    return cell


def _without_nan(cell: Cell) -> Cell:
    """The cell, None for NaN, which is the one value that is not equal to itself."""
    if cell != cell:
        return None
    return cell


def _csv_cell(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return cell


def _pipe_row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _latex_row(texts: Sequence[str]) -> str:
    escaped = [" ".join(text.split()).translate(_LATEX_ESCAPES) for text in texts]
    return " & ".join(escaped) + " \\\\"
