"""Pictures of decisions, drawn once and used everywhere."""

from darc.views.plane import Plane, Point, plane
from darc.views.plane_plot import check_picture, draw_plane, save_figure
from darc.views.ratings_plot import draw_ratings

__all__ = ["Plane", "Point", "check_picture", "draw_plane", "draw_ratings", "plane", "save_figure"]
