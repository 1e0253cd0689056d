"""What all charts share: styles of series and axes, and files that are the same each time."""

import io
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.errors import InputError, extra_needed
from darc.views.palette import GRID, INK, PALE, SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Series differ in marker and dashes as well as in colour, so that charts are legible in grey.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1.2)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (2, 2)),
    (0, (9, 2, 1, 2, 1, 2)),
)
MAX_SERIES = len(MARKERS)
FORMATS = (".png", ".svg", ".pdf")
# Matplotlib warns if its font lacks a letter, and draws a box instead.
_MISSING_GLYPH = "Glyph .* missing from"


@dataclass(frozen=True)
class SeriesStyle:
    """Colour, marker and dashes of one series; each alone tells it from the others."""

    color: str
    marker: str
    dashes: Any

    @property
    def line(self) -> dict[str, Any]:
        """The style of a line with markers, as matplotlib's keywords."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "linewidth": 1.6,
            "markersize": 5.0,
        }


def series_styles(names: Sequence[str]) -> dict[str, SeriesStyle]:
    """A style for each of at most `MAX_SERIES` names.

    Args:
        names: The names of the series.

    Returns:
        The style of each, by name.

    Raises:
        ValueError: If there are too many names.
    """
    if len(names) > MAX_SERIES:
        raise ValueError(f"{len(names)} series, at most {MAX_SERIES} can be told apart")
    styles = zip(names, SERIES, MARKERS, DASHES, strict=False)
    return {name: SeriesStyle(color, marker, dashes) for name, color, marker, dashes in styles}


@contextmanager
def plain_drawing(salt: str = "") -> Iterator[None]:
    """Draw texts as they are: a dollar sign is a dollar sign, and a missing letter no warning.

    Args:
        salt: The ids in an SVG are derived from it, so that they are the same each time.
    """
    _figure_class()
    import matplotlib as mpl

    # Without fonttype "none" the words of an SVG would be outlines.
    settings: Any = {"text.parse_math": False, "svg.hashsalt": salt, "svg.fonttype": "none"}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_MISSING_GLYPH)
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty figure of this size in inches, without any global state."""
    figure_class = _figure_class()
    return figure_class(figsize=(width, height), dpi=150, layout="constrained")


def _figure_class() -> "type[Figure]":
    with extra_needed("drawing a picture", "plot"):
        from matplotlib.figure import Figure
    return Figure


def check_picture(path: Path) -> None:
    """Check that a picture can be written to a file.

    Args:
        path: The file.

    Raises:
        InputError: If the file's ending does not name a picture format.
        MissingExtra: If matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path} does not end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}",
            "choose a picture's name by its format",
        )
    _figure_class()


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the file's ending."""
    check_picture(path)
    metadata = None
    if path.suffix == ".png":
        # Matplotlib's version would make the files of two machines differ.
        metadata = {"Software": None}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_MISSING_GLYPH)
        figure.savefig(path, metadata=metadata)


@dataclass(frozen=True, eq=False)
class ShownFigure:
    """A figure that a notebook shows as SVG.

    Attributes:
        figure: The matplotlib figure.
        name: What its ids in an SVG begin with.
    """

    figure: "Figure"
    name: str

    def _repr_svg_(self) -> str:
        return figure_svg(self.figure, self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure as PNG, SVG or PDF, by the file's ending."""
        save_figure(self.figure, Path(path))


def style_axes(axes: Any, title: str = "", x_label: str = "", y_label: str = "") -> None:
    """Give axes a pale grid and labels, and take away the frame."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(colors=INK, labelsize=9)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left", fontsize=10.5, color=INK)
    axes.set_xlabel(x_label, fontsize=9.5, color=INK)
    axes.set_ylabel(y_label, fontsize=9.5, color=INK)


def legend_below(figure: "Figure", axes: Any, columns: int = 3) -> None:
    """Put one legend for the whole figure below its axes."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(columns, len(labels)),
        frameon=False,
        fontsize=9,
        handlelength=3.6,
    )


def figure_svg(figure: "Figure", name: str) -> str:
    """Write a figure as the text of an SVG file; the same figure and name give the same text."""
    file = io.StringIO()
    with plain_drawing(name):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def inline_svg(svg: str, name: str, label: str) -> str:
    """Turn an SVG file into an element of a page.

    Args:
        svg: The text of the file.
        name: Put before every id, so that ids stay unique on a page with several pictures.
        label: What a screen reader says.

    Returns:
        The element.
    """
    text = svg[svg.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def write_picture(figure: "Figure", folder: Path, name: str) -> tuple[list[Path], str]:
    """Write a figure as NAME.png and NAME.svg.

    Args:
        figure: The figure.
        folder: Where to write, made if it does not exist.
        name: The stem of both files.

    Returns:
        The files, and the text of the SVG.
    """
    folder.mkdir(parents=True, exist_ok=True)
    png_path = folder / f"{name}.png"
    svg_path = folder / f"{name}.svg"
    svg = figure_svg(figure, name)
    # The SVG has found the layout already, which costs more than the drawing.
    figure.set_layout_engine("none")
    with plain_drawing():
        figure.savefig(png_path, metadata={"Software": None})
    svg_path.write_text(svg, encoding="utf-8")
    return [png_path, svg_path], svg
