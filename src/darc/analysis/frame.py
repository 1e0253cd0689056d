"""A small table of named columns, and its forms as text."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from darc.errors import InputError, UnknownName
from darc.files import atomic_writer
from darc.settings.toml_file import read_toml

Cell = str | float | int | None
Record = dict[str, Any]
WORDS = read_toml(Path(__file__).with_name("report.toml"))

_LATEX = str.maketrans(
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
    """Rows of cells under named columns; numbers stay numbers until they are written.

    `name` is the stem of its files, `title` its caption and `note` what a reader must know of it.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @classmethod
    def of(cls, name: str, title: str, rows: Iterable[Record], note: str = "") -> "Frame":
        """A frame of rows that all have the same keys; numpy's numbers become Python's."""
        rows = list(rows)
        columns = tuple(rows[0]) if rows else ()
        if any(tuple(row) != columns for row in rows):
            raise ValueError(f"{name}: a row has other columns than {', '.join(columns)}")
        cells = (
            tuple(cell.item() if hasattr(cell, "item") else cell for cell in row.values())
            for row in rows
        )
        return cls(name, title, columns, tuple(cells), note)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Cell]:
        """The cells of one column."""
        return [row[self._place(name)] for row in self.rows]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as mappings, NaN as None."""
        return [
            {n: cell if cell == cell else None for n, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]

    def where(self, **wanted: Cell) -> "Frame":
        """The rows whose cells in these columns are as given."""
        places = {self._place(name): value for name, value in wanted.items()}
        kept = tuple(r for r in self.rows if all(r[at] == value for at, value in places.items()))
        return replace(self, rows=kept)

    def without(self, **unwanted: Cell) -> "Frame":
        """The rows that have none of these cells."""
        places = {self._place(name): value for name, value in unwanted.items()}
        kept = tuple(r for r in self.rows if all(r[at] != value for at, value in places.items()))
        return replace(self, rows=kept)

    def csv(self) -> str:
        """Comma-separated values, numbers in full, NaN and None empty."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.records():
            writer.writerow(f"{x:.10g}" if isinstance(x, float) else x for x in row.values())
        return file.getvalue()

    def markdown(self, digits: int = 3) -> str:
        """A pipe table under the title, with the note below."""
        kinds = ["---:" if self.numeric(at) else "---" for at in range(len(self.columns))]
        cells = [[cell_text(cell, digits) for cell in row] for row in self.rows]
        plain = [[text.replace("|", "\\|").replace("\n", " ") for text in row] for row in cells]
        table = [f"| {' | '.join(row)} |" for row in (self.columns, kinds, *plain)]
        return "\n".join([f"**{self.title}**", "", *table, *["", self.note] * bool(self.note), ""])

    def latex(self, digits: int = 3) -> str:
        """A tabular without packages, every special letter escaped."""

        def escaped(text: str) -> str:
            return " ".join(text.split()).translate(_LATEX)

        kinds = "".join("r" if self.numeric(at) else "l" for at in range(len(self.columns)))
        cells = [self.columns, *([cell_text(cell, digits) for cell in row] for row in self.rows)]
        head, *rows = [" & ".join(map(escaped, row)) + " \\\\" for row in cells]
        lines = [f"% {self.title}", f"\\begin{{tabular}}{{{kinds}}}", "\\hline", f"{head} \\hline"]
        lines += [*rows, "\\hline", "\\end{tabular}", *[f"% {self.note}"] * bool(self.note)]
        return "\n".join(line.replace("\n", " ") for line in lines) + "\n"

    def numeric(self, place: int) -> bool:
        """Whether the cells of a column are numbers, or absent."""
        cells = [row[place] for row in self.rows]
        return bool(cells) and all(cell is None or isinstance(cell, int | float) for cell in cells)

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise UnknownName("column", name, self.columns)
        return self.columns.index(name)


def table(name: str, rows: Iterable[Record], /, **said: object) -> Frame:
    """The frame of this name with its title and its note, in which `said` fills the gaps."""
    words = WORDS["tables"][name]
    return Frame.of(name, words["title"], rows, words.get("note", "").format(**said))


FORMS: Mapping[str, Callable[[Frame], str]] = {
    ".csv": Frame.csv,
    ".md": Frame.markdown,
    ".tex": Frame.latex,
}


def cell_text(cell: Cell, digits: int = 3) -> str:
    """A cell as people read it: a dash where there is nothing, small numbers by their exponent."""
    if cell is None or cell != cell:
        return "-"
    if isinstance(cell, float):
        if 0 < abs(cell) < 10.0**-digits:
            return f"{cell:.1e}"
        # Sums in another order must not print another last digit.
        return f"{round(cell, digits + 6) + 0.0:.{digits}f}"
    return str(cell)


def joined(frames: Iterable[Frame]) -> list[Frame]:
    """Frames of one name made into one, in order of first appearance; empty ones are left out."""
    found: dict[str, Frame] = {}
    for frame in (each for each in frames if len(each)):
        seen = found.setdefault(frame.name, replace(frame, rows=()))
        if seen.columns != frame.columns:
            raise ValueError(f"{frame.name} has different columns in different sources")
        note = seen.note if frame.note in seen.note else f"{seen.note} {frame.note}".strip()
        found[frame.name] = replace(seen, rows=seen.rows + frame.rows, note=note)
    return list(found.values())


def write_frames(frames: Iterable[Frame], folder: Path) -> list[Path]:
    """Write each frame that has rows as CSV, Markdown and LaTeX; the result lists the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"cannot write {folder}: {problem.strerror}", "name a folder") from None
    paths = []
    for frame in (each for each in frames if len(each)):
        for suffix, form in FORMS.items():
            path = folder / f"{frame.name}{suffix}"
            with atomic_writer(path) as file:
                file.write(form(frame))
            paths.append(path)
    return paths
