"""The last step: tables, figures and one page, written from the evaluated numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from darc.errors import MissingExtra, UnknownName
from darc.files import atomic_writer
from darc.reproduce.figures import FIGURES, WrittenFigure, write_figures
from darc.reproduce.layout import PaperTable, csv_text, document, latex_text, markdown_text
from darc.reproduce.page import render
from darc.reproduce.paper_tables import TABLES
from darc.reproduce.results import Results

_FORMS = {".csv": csv_text, ".md": markdown_text, ".tex": latex_text}
#: The LaTeX document that includes all tables.
DOCUMENT = "tables.tex"


@dataclass(frozen=True)
class Written:
    """What the last step wrote."""

    page: Path
    tables: list[PaperTable] = field(default_factory=list)
    figures: list[WrittenFigure] = field(default_factory=list)
    #: The tables that have no numbers, and why figures are missing.
    left_out: list[str] = field(default_factory=list)


def names_of(tables: Iterable[str]) -> list[str]:
    """Check the names of tables and figures.

    Args:
        tables: The names; none stands for all.

    Returns:
        The names.

    Raises:
        UnknownName: There is no such table.
    """
    known = [*TABLES, *FIGURES]
    names = list(tables) or known
    for name in names:
        if name not in known:
            raise UnknownName("table", name, known)
    return list(dict.fromkeys(names))


def write_output(
    results: Results, names: Sequence[str], left_out: Sequence[str], whole: bool = True
) -> Written:
    """Write tables as CSV, Markdown and LaTeX, figures, and the page.

    Args:
        results: The evaluated numbers.
        names: The tables and figures to write; the page shows these.
        left_out: What could not be done, for the page.
        whole: Whether these are all tables; some of them get a page and a LaTeX document of their
            own, called like the first of them.

    Returns:
        What was written.
    """
    folder = results.folder
    page = folder.page
    document_name = DOCUMENT
    if not whole:
        page = page.with_name(f"{names[0]}.html")
        document_name = f"{names[0]}-only.tex"
    sentences = list(left_out)
    tables = []
    for name in TABLES:
        if name not in names:
            continue
        table = TABLES[name](results)
        if table.is_empty:
            sentences.append(f"The table {name} is left out: it has no numbers.")
            continue
        tables.append(table)
        _write_table(table, folder.tables)
    figures: list[WrittenFigure] = []
    try:
        figures = write_figures(results, [n for n in FIGURES if n in names], folder.figures)
    except MissingExtra as problem:
        sentences.append(f"Figures are left out: {problem}")
    pictures = [
        f"../figures/{path.name}"
        for figure in figures
        for path in figure.paths
        if path.suffix == ".png"
    ]
    folder.tables.mkdir(parents=True, exist_ok=True)
    with atomic_writer(folder.tables / document_name) as file:
        file.write(document([f"{table.name}.tex" for table in tables], pictures))
    with atomic_writer(page) as file:
        file.write(render(results.experiment, tables, figures, sentences))
    return Written(page, tables, figures, sentences)


def _write_table(table: PaperTable, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for ending, form in _FORMS.items():
        with atomic_writer(folder / f"{table.name}{ending}") as file:
            file.write(form(table))
