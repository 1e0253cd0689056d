"""Pictures of decisions, drawn once and used everywhere."""

from darc.views.chart import check_picture, save_figure
from darc.views.plane import draw_plane, plane
from darc.views.ratings_plot import draw_ratings

__all__ = ["check_picture", "draw_plane", "draw_ratings", "plane", "save_figure"]
