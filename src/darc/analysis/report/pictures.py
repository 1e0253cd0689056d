"""A drawn frame, and what all figures share in reading frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from darc.analysis.evaluate.methods import BASELINE
from darc.analysis.frame import WORDS, Frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("delta", "low", "high")
FIRST = ("epsilon", "entropic", "tau", "lcb", "cvar", "penalty")


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure of one frame and one source; `name` is the stem of its files."""

    name: str
    caption: str
    source: str
    figure: "Figure"


def picture(name: str, source: str, figure: "Figure", **said: object) -> Picture:
    """The picture of this name with its caption, in which `said` fills the gaps."""
    caption = WORDS["captions"][name.split("-")[0]].format(**said)
    return Picture(name, caption, source, figure)


def values(frame: Frame, name: str) -> list[str]:
    """The different cells of a column as text, in order of appearance."""
    return list(dict.fromkeys(str(cell) for cell in frame.column(name)))


def numbers(frame: Frame, name: str) -> list[float]:
    """A column as numbers, NaN where there is none."""
    cells = frame.column(name)
    return [float(cell) if isinstance(cell, int | float) else float("nan") for cell in cells]


def few(methods: Sequence[str], most: int) -> list[str]:
    """At most `most` methods without Best-of-K, well-known rules first, whatever their results."""
    others = [method for method in methods if method != BASELINE]
    known = [method for method in FIRST if method in others]
    return (known + [method for method in others if method not in known])[:most]


def left_out(shown: Sequence[str], methods: Sequence[str]) -> str:
    """A sentence on the methods that are not drawn, empty for none."""
    others = [method for method in methods if method not in shown and method != BASELINE]
    return f" Not drawn: {', '.join(others)}; the table has them." if others else ""


def metric_name(name: str) -> str:
    """A metric as people read it."""
    return f"CVaR {name.removeprefix('cvar_')} %" if name.startswith("cvar_") else name


def tail_name(frame: Frame) -> str:
    """What the CVaR is called in a frame with its differences."""
    return next(n.removeprefix("delta_") for n in frame.columns if n.startswith("delta_cvar"))


def parts(frame: Frame, *columns: str) -> list[tuple[Any, ...]]:
    """The parts of a frame by the different cells of some columns, each after its cells."""
    if not columns:
        return [(frame,)]
    return [
        (cell, *rest)
        for cell in values(frame, columns[0])
        for rest in parts(frame.where(**{columns[0]: cell}), *columns[1:])
    ]
