"""Files of ratings in, batches of scores out; every output written whole or not at all."""

from darc.tables.batch import Batch
from darc.tables.read import read_ratings
from darc.tables.table import RatingTable
from darc.tables.write import atomic_writer

__all__ = ["Batch", "RatingTable", "atomic_writer", "read_ratings"]
