"""Pictures, pages and tables of plain data, drawn once and used everywhere."""

from darc.views.chart import ShownFigure, check_picture, save_figure
from darc.views.dots_plot import draw_ratings
from darc.views.plane import draw_plane

__all__ = [
    "ShownFigure",
    "check_picture",
    "draw_plane",
    "draw_ratings",
    "save_figure",
]
