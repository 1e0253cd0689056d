"""Files of ratings in, batches of scores out."""

from darc.ratings.batch import Batch
from darc.ratings.read import read_ratings
from darc.ratings.table import RatingTable

__all__ = ["Batch", "RatingTable", "read_ratings"]
