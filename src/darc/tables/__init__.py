"""Files of ratings in, batches of scores out."""

from darc.tables.batch import Batch
from darc.tables.read import read_ratings
from darc.tables.table import RatingTable

__all__ = ["Batch", "RatingTable", "read_ratings"]
