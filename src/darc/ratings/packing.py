"""Samples in a list packed into padded arrays, and prompts cut into batches of a bounded size."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.ratings.splitting import NOBODY
from darc.typing import Integers

#: How many padded cells a batch may hold for each of its ratings.
PADDING = 2


class SamplePacking:
    """Where each sample of a list goes in an array (P, M, K, n)."""

    def __init__(self, cells: Integers, candidates: Integers, scorers: int) -> None:
        """Plan the array.

        Args:
            cells: The cell of each sample, candidate * scorers + scorer, in ascending order;
                candidates are numbered over all prompts.
            candidates: How many candidates each prompt has, (P,).
            scorers: The number of scorers.
        """
        samples_of_cell = np.bincount(cells, minlength=int(candidates.sum()) * scorers)
        prompt = np.repeat(np.arange(len(candidates)), candidates)
        first_candidate = (np.cumsum(candidates) - candidates)[prompt]
        position = np.arange(len(prompt)) - first_candidate
        width = int(candidates.max())
        depth = int(samples_of_cell.max())
        self._shape = (len(candidates), scorers, width, depth)
        plane = prompt[:, None] * scorers + np.arange(scorers)
        row = (plane * width + position[:, None]).ravel()
        shift = row * depth - (np.cumsum(samples_of_cell) - samples_of_cell)
        self._targets = np.repeat(shift, samples_of_cell) + np.arange(len(cells))

    def array(self, values: NDArray[Any]) -> Any:
        """Values of the samples as (P, M, K, n), filled up with NaN or, for integers, `NOBODY`."""
        fill: float = NOBODY
        if values.dtype.kind == "f":
            fill = np.nan
        result = np.full(self._shape, fill)
        result.reshape(-1)[self._targets] = values
        return result


def plan_batches(
    rows: Integers, width: Integers, depth: Integers, max_rows: int, max_cells: int
) -> list[tuple[int, int]]:
    """Cut prompts into batches.

    Args:
        rows: The number of rows of each prompt, (P,).
        width: The width of each prompt in a padded array, (P,).
        depth: The depth of each prompt in a padded array, (P,).
        max_rows: How many rows a batch of several prompts may have.
        max_cells: How many cells the padded array of a batch of several prompts may have: prompts
            times the largest width times the largest depth.

    Returns:
        The first prompt of each batch and the one after its last.
    """
    batches = []
    first = 0
    rows_so_far = 0
    widest = 0
    deepest = 0
    sizes = zip(rows.tolist(), width.tolist(), depth.tolist(), strict=True)
    for prompt, (prompt_rows, prompt_width, prompt_depth) in enumerate(sizes):
        widest = max(widest, prompt_width)
        deepest = max(deepest, prompt_depth)
        cells = (prompt + 1 - first) * widest * deepest
        is_full = rows_so_far + prompt_rows > max_rows or cells > max_cells
        if prompt > first and is_full:
            batches.append((first, prompt))
            first = prompt
            rows_so_far = 0
            widest = prompt_width
            deepest = prompt_depth
        rows_so_far += prompt_rows
    batches.append((first, len(rows)))
    return batches
