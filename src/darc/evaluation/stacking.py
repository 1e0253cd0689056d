"""Arrays of different sizes as one."""

import numpy as np

from darc.typing import Array


def stacked(arrays: list[Array]) -> Array:
    """Arrays as one with a leading axis, NaN where one is smaller."""
    most = np.max([array.shape for array in arrays], axis=0)
    result = np.full((len(arrays), *most), np.nan)
    for row, array in zip(result, arrays, strict=True):
        row[tuple(slice(size) for size in array.shape)] = array
    return result
