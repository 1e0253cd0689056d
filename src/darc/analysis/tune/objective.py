"""What a tuning raises."""

from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import average, tail
from darc.decide.statistics.arrays import check_level, check_share
from darc.errors import InputError, UnknownName
from darc.typing import Array, Mask

NAMES = ("tradeoff", "cvar", "mean")
# Objectives that differ by less than this share are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Objective:
    """A named objective over prompts, of the outcomes on the judging half."""

    #: "tradeoff" (the average of mean - lam sigma), "cvar" (the average of the lowest means) or
    #: "mean" (the average mean).
    name: str = "tradeoff"
    #: The weight of sigma in the tradeoff.
    lam: float = 2.0
    #: The share of prompts that the CVaR is of.
    share: float = 0.1
    #: The largest average sigma that a method may have; for the mean only.
    risk_cap: float | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise UnknownName("objective", self.name, NAMES)
        check_level("lam", self.lam)
        check_share("share", self.share)
        if self.risk_cap is not None:
            check_level("risk cap", self.risk_cap)
            if self.name != "mean":
                raise InputError(
                    f"a risk cap is given with the objective {self.name!r}",
                    "it belongs to the objective 'mean'",
                )

    @property
    def needs_risk(self) -> bool:
        """Whether sigma must be known on the judging half."""
        return (self.name == "tradeoff" and self.lam > 0) or self.risk_cap is not None

    @property
    def words(self) -> str:
        """What is raised, in words."""
        if self.name == "cvar":
            return f"the mean of the lowest {100 * self.share:g} % of prompts"
        if self.name == "tradeoff":
            return f"mean - {self.lam:g} sigma"
        return "the mean"

    def outcome(self, mean: Array, sigma: Array) -> Array:
        """What is averaged over prompts, of the shape of the arguments."""
        if self.name == "tradeoff" and self.lam > 0:
            return np.asarray(mean - self.lam * sigma)
        return mean

    def over(self, outcome: Array, among: Mask, counts: Array) -> Array:
        """The objective, apart from the cap, which is for `best`.

        Args:
            outcome: Outcomes (R, A, P).
            among: The prompts that count, (R, P).
            counts: Weights of the prompts, (B, P).

        Returns:
            Objectives (B, R, A).
        """
        if self.name == "cvar":
            return tail(outcome, among, counts, self.share)
        return average(outcome, among, counts)

    def best(self, merit: Array, sigma: Array) -> int:
        """The index of the best method; the first of equals.

        Args:
            merit: The objective of each method, (G,).
            sigma: The average sigma of each method, (G,). Where none keeps the cap, the method
                with the least is the best.
        """
        if self.risk_cap is None:
            return _first_largest(merit)
        allowed = sigma <= self.risk_cap
        if allowed.any():
            return _first_largest(np.where(allowed, merit, np.nan))
        return _first_largest(-sigma)


def _first_largest(merit: Array) -> int:
    """The index of the largest, the first of those equal up to rounding; NaN is the least."""
    filled = np.where(np.isnan(merit), -np.inf, merit)
    largest = filled.max()
    return int(np.argmax(filled >= largest - _ROUNDING * abs(largest)))
