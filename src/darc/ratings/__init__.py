"""Ratings: files of them in, arrays with ids out."""

from darc.ratings.ratings import Ratings
from darc.ratings.read import read_ratings
from darc.ratings.table import RatingTable

__all__ = ["RatingTable", "Ratings", "read_ratings"]
