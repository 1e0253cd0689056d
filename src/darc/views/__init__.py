"""Pictures of decisions, drawn once and used everywhere."""

from darc.views.plane import Plane, Point, plane
from darc.views.plane_plot import check_picture, draw_plane, save_figure

__all__ = ["Plane", "Point", "check_picture", "draw_plane", "plane", "save_figure"]
