"""What all charts share: series told apart without colour, quiet axes, the same bytes each time."""

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
MOST_SERIES = len(MARKERS)
FORMATS = (".png", ".svg", ".pdf")
# What matplotlib warns of where its font lacks a letter, which it draws as a box.
MISSING_GLYPH = "Glyph .* missing from"


@dataclass(frozen=True)
class Look:
    """Colour, marker and dashes of one series; each alone tells it from the others."""

    color: str
    marker: str
    dashes: Any

    @property
    def line(self) -> dict[str, Any]:
        """The look of a line with markers, as matplotlib's keywords."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "linewidth": 1.6,
            "markersize": 5.0,
        }


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each of at most `MOST_SERIES` names."""
    if len(names) > MOST_SERIES:
        raise ValueError(f"{len(names)} series, at most {MOST_SERIES} can be told apart")
    rows = zip(names, SERIES, MARKERS, DASHES, strict=False)
    return {name: Look(*look) for name, *look in rows}


@contextmanager
def plainly(salt: str = "") -> Iterator[None]:
    """Drawing in which a dollar sign is a dollar sign and an unknown letter no cause for alarm.

    Words stay words in an SVG, and its ids come from `salt`.
    """
    _figure_class()
    import matplotlib as mpl

    with (
        mpl.rc_context({"text.parse_math": False, "svg.hashsalt": salt, "svg.fonttype": "none"}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message=MISSING_GLYPH)
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, in inches, apart from any global state."""
    return _figure_class()(figsize=(width, height), dpi=150, layout="constrained")


def _figure_class() -> "type[Figure]":
    with extra_needed("drawing a picture", "plot"):
        from matplotlib.figure import Figure
    return Figure


def check_picture(path: Path) -> None:
    """Raise an `InputError` unless the file's ending names a picture format."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path} does not end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}",
            "choose a picture's name by its format",
        )
    _figure_class()


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the file's ending."""
    check_picture(path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=MISSING_GLYPH)
        figure.savefig(path, metadata={"Software": None} if path.suffix == ".png" else None)


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
        return svg_of(self.figure, self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure; the ending says how (.png, .svg, .pdf)."""
        save_figure(self.figure, Path(path))


def quiet(axes: Any, title: str = "", across: str = "", up: str = "") -> None:
    """Axes with a pale grid, names and no frame."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(colors=INK, labelsize=9)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left", fontsize=10.5, color=INK)
    axes.set_xlabel(across, fontsize=9.5, color=INK)
    axes.set_ylabel(up, fontsize=9.5, color=INK)


def legend_below(figure: "Figure", axes: Any, columns: int = 3) -> None:
    """One legend for the whole figure, below its axes."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=min(columns, len(labels)),
            frameon=False,
            fontsize=9,
            handlelength=3.6,
        )


def svg_of(figure: "Figure", name: str) -> str:
    """The figure as a whole SVG file; the same figure and name give the same text."""
    file = io.StringIO()
    with plainly(name):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def inline_svg(svg: str, name: str, label: str) -> str:
    """An SVG file as an element of a page, its ids made its own by `name`, read out as `label`."""
    text = svg[svg.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def write_picture(figure: "Figure", folder: Path, name: str) -> tuple[list[Path], str]:
    """Write NAME.png and NAME.svg into the folder; the files, and the SVG's text."""
    folder.mkdir(parents=True, exist_ok=True)
    text = svg_of(figure, name)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    figure.set_layout_engine("none")  # the layout is found already, and costs more than the drawing
    with plainly():
        figure.savefig(paths[0], metadata={"Software": None})
    paths[1].write_text(text, encoding="utf-8")
    return paths, text
