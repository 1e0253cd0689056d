"""Batches of rows of similar length, padded to rectangles."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def by_length(lengths: Sequence[int], batch_size: int) -> Iterator[NDArray[np.int64]]:
    """The places of all rows, the shortest first, at most `batch_size` at a time.

    Rows of one length keep their order, so the batches depend on the lengths alone.
    """
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def padded(rows: Sequence[Sequence[int]], pad: int, device: Any, left: bool) -> dict[str, Any]:
    """Token numbers, attention mask and positions of a batch, (rows, longest) each."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for place, row in enumerate(rows):
        span = slice(longest - len(row), longest) if left else slice(0, len(row))
        ids[place, span] = torch.tensor(row, dtype=torch.long)
        mask[place, span] = 1
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return {
        "input_ids": ids.to(device),
        "attention_mask": mask.to(device),
        "position_ids": positions.to(device),
    }
