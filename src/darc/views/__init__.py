"""Pictures of decisions, drawn once and used everywhere."""

from darc.views.chart import check_picture, save_figure
from darc.views.decision_plots import draw_plane, draw_ratings, plane

__all__ = ["check_picture", "draw_plane", "draw_ratings", "plane", "save_figure"]
