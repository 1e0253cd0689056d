"""Records of scattered prompts, brought together within the memory bound."""

from itertools import pairwise

import numpy as np

from darc.tables.grouping import narrow
from darc.tables.spill import RecordSpill
from darc.typing import Integers


def ranges(counts: Integers, limit: int) -> list[tuple[int, int]]:
    """Ranges of prompts (first, last + 1) of at most `limit` rows, or of a single prompt."""
    ends = np.cumsum(counts)
    result = []
    first, rows = 0, 0
    while first < len(counts):
        last = max(int(np.searchsorted(ends, rows + limit, side="right")), first + 1)
        result.append((first, last))
        first, rows = last, int(ends[last - 1])
    return result


def by_prompt(records: RecordSpill, counts: Integers, limit: int) -> RecordSpill:
    """The same records sorted by prompt, in file order within each; `counts` rows a prompt.

    Two passes: rows go to their range of prompts, whose place in the result is known from the
    counts, and then each range is sorted on its own. At most about `limit` rows are in memory,
    unless a single prompt has more.
    """
    parts = ranges(counts, limit)
    starts = np.concatenate(([0], np.cumsum(counts)))
    widths = [last - first for first, last in parts]
    part_of_prompt = np.repeat(narrow(np.arange(len(parts)), len(parts)), widths)
    cursors = [int(starts[first]) for first, _ in parts]
    # Writing far ahead would fill memory with zeros, so many records go to disk from the start.
    result = RecordSpill(records.dtype, limit if len(records) <= limit else 0)
    try:
        for start in range(0, len(records), limit):
            chunk = records.read(start, min(start + limit, len(records)))
            part = part_of_prompt[chunk["prompt"]]
            chunk = chunk.take(np.argsort(part, kind="stable"))
            edges = np.concatenate(([0], np.cumsum(np.bincount(part, minlength=len(parts)))))
            for index, (low, high) in enumerate(pairwise(edges.tolist())):
                result.write(cursors[index], chunk[low:high])
                cursors[index] += high - low
        for first, last in parts:
            start, stop = int(starts[first]), int(starts[last])
            chunk = result.read(start, stop)
            prompt = narrow(chunk["prompt"] - first, last - first)
            result.write(start, chunk.take(np.argsort(prompt, kind="stable")))
    except BaseException:
        result.close()
        raise
    return result
