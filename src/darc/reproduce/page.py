"""The page that shows all tables and figures, with the paper's printed numbers beside ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from darc.reproduce.experiment import Experiment
from darc.reproduce.figures import WrittenFigure
from darc.reproduce.layout import Block, PaperTable, cell_text, group_spans, marks_of
from darc.views.chart import inline_svg
from darc.views.html import render_page

_TEMPLATES = Path(__file__).with_name("templates")
_PAGE = "reproduction.html"
# Longer cells are words.
_LONGEST_NUMBER = 20


@dataclass(frozen=True)
class PageCell:
    """A cell as the template shows it."""

    text: str
    #: What the paper prints, empty where it prints nothing.
    printed: str
    #: CSS classes: its mark, or "text" for a cell of words.
    classes: str


@dataclass(frozen=True)
class PageRow:
    """A row as the template shows it."""

    labels: tuple[str, ...]
    cells: list[PageCell]


@dataclass(frozen=True)
class PageBlock:
    """A block as the template shows it."""

    title: str
    rows: list[PageRow]


@dataclass(frozen=True)
class PageTable:
    """A table as the template shows it."""

    name: str
    title: str
    note: str
    labels: tuple[str, ...]
    #: The headings of each level: how many columns each is wide, and its text.
    headings: list[list[tuple[int, str]]]
    columns: list[str]
    blocks: list[PageBlock]

    @property
    def width(self) -> int:
        """The number of all columns."""
        return len(self.labels) + len(self.columns)


def render(
    experiment: Experiment,
    tables: Sequence[PaperTable],
    figures: Sequence[WrittenFigure],
    left_out: Sequence[str],
) -> str:
    """Render the page.

    Args:
        experiment: The experiment.
        tables: Its tables.
        figures: Its figures.
        left_out: What could not be done.

    Returns:
        The page, in which every text is escaped.
    """
    return render_page(
        _PAGE,
        _TEMPLATES,
        title=f"Reproduction: {experiment.name}",
        note=experiment.note,
        tables=[_page_table(table) for table in tables],
        figures=[
            (
                figure.name,
                figure.caption,
                Markup(inline_svg(figure.svg, figure.name, figure.caption)),
            )
            for figure in figures
        ],
        left_out=left_out,
    )


def _page_table(table: PaperTable) -> PageTable:
    depth = max((len(column.groups) for column in table.columns), default=0)
    headings = [
        [(size, text) for _, size, text in group_spans(table, level)] for level in range(depth)
    ]
    return PageTable(
        name=table.name,
        title=table.title,
        note=table.note,
        labels=table.labels,
        headings=headings,
        columns=[column.label for column in table.columns],
        blocks=[_page_block(table, block) for block in table.blocks],
    )


def _page_block(table: PaperTable, block: Block) -> PageBlock:
    rows = []
    for row, marks in zip(block.rows, marks_of(table, block), strict=True):
        printed = row.printed or (None,) * len(row.cells)
        cells = []
        for place, column in enumerate(table.columns):
            paper_text = ""
            if printed[place] is not None:
                paper_text = cell_text(printed[place], column.digits)
            text = cell_text(row.cells[place], column.digits)
            classes: str = marks[place]
            if len(text) > _LONGEST_NUMBER:
                classes = "text"
            cells.append(PageCell(text, paper_text, classes))
        rows.append(PageRow(row.labels, cells))
    return PageBlock(block.title, rows)
