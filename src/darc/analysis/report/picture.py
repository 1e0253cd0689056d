"""A drawn frame with its caption."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from darc.analysis.frame import WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure of one frame and one source."""

    #: The stem of its files.
    name: str
    caption: str
    source: str
    figure: "Figure"


def captioned_picture(name: str, source: str, figure: "Figure", **values: object) -> Picture:
    """Give a figure its caption.

    Args:
        name: The stem of the files; the caption goes by what is before the first hyphen.
        source: The source that the figure is of.
        figure: The figure.
        **values: What fills the gaps in the caption.

    Returns:
        The picture.
    """
    caption = WORDS["captions"][name.split("-")[0]].format(**values)
    return Picture(name, caption, source, figure)
