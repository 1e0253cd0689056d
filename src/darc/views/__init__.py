"""Pictures of decisions, drawn once and used everywhere."""

from darc.views.chart import ShownFigure, check_picture, save_figure
from darc.views.decision_plots import draw_plane, plane
from darc.views.dots import dot_picture
from darc.views.dots_plot import draw_ratings

__all__ = [
    "ShownFigure",
    "check_picture",
    "dot_picture",
    "draw_plane",
    "draw_ratings",
    "plane",
    "save_figure",
]
