"""A number that the paper prints, beside what it should be."""

from dataclasses import dataclass

# Differences by this much are rounding errors of the computation.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """A printed number beside what follows from other printed numbers."""

    table: str
    cell: str
    #: What the number is, such as "tradeoff".
    quantity: str
    printed: float
    computed: float
    #: How far rounding alone may take the two apart.
    slack: float
    #: How the computed number is known.
    source: str = "follows as"

    @property
    def follows(self) -> bool:
        """Whether rounding explains the difference."""
        return abs(self.printed - self.computed) <= self.slack + ROUNDING
