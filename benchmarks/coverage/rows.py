"""One row of the table of coverage and false-positive rates."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """How often one printed statement was right or wrong in simulated files."""

    name: str
    """The statement and the simulated data, such as "compare: false rank, 3 equal systems"."""
    nominal: str
    """What the rate should be, such as "0.95", "<= 0.05" or ">= 0.80"."""
    measured: float
    """The rate over the simulated files, or the average of what was estimated."""
    files: int
    """The number of simulated files."""


Simulation = Callable[[float], list[Row]]
"""Takes the share of its full number of files to simulate (1 for all), returns its rows."""


def file_count(full: int, share: float) -> int:
    """The number of files to simulate, at least two.

    Args:
        full: The number in a full run.
        share: The share of it to simulate.
    """
    return max(2, round(full * share))
