"""Which prompts go into one batch."""

from typing import NamedTuple

from darc.typing import Integers

# Padded cells for each rating that a batch may hold.
PADDING = 2


class Sizes(NamedTuple):
    """Candidates, and samples of the most rated one, for each of some prompts."""

    candidates: Integers
    samples: Integers


def plan(counts: Integers, sizes: Sizes, scorers: int, limit: int) -> list[tuple[int, int]]:
    """Ranges of prompts (first, last + 1) of about `limit` rows, cut where padding would pile up.

    A range holds several prompts only while their rows stay within `limit` and the padded array
    (P, M, K, n) within `PADDING` times that.
    """
    ranges = []
    first = rows = most = depth = 0
    triples = zip(counts.tolist(), sizes.candidates.tolist(), sizes.samples.tolist(), strict=True)
    for index, (count, candidates, samples) in enumerate(triples):
        most, depth = max(most, candidates), max(depth, samples)
        padded = (index + 1 - first) * scorers * most * depth
        if index > first and (rows + count > limit or padded > PADDING * limit):
            ranges.append((first, index))
            first, rows, most, depth = index, 0, candidates, samples
        rows += count
    ranges.append((first, len(counts)))
    return ranges
