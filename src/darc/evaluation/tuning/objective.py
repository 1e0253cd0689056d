"""What a setting is chosen by."""

from dataclasses import dataclass

import numpy as np

from darc.core.arrays import check_level, check_share
from darc.errors import InputError, UnknownName
from darc.evaluation.bootstrap import average, tail
from darc.typing import Array, Mask

ROUNDING = 1e-12
NAMES = ("tradeoff", "cvar", "mean")


@dataclass(frozen=True)
class Objective:
    """A named objective over prompts, of the outcomes on the evaluation half.

    `tradeoff` is the average of mean - lam sigma, `cvar` the average of the `share` lowest means,
    `mean` the average mean, with a `risk_cap` among the settings whose average sigma keeps it.
    """

    name: str = "tradeoff"
    lam: float = 2.0
    share: float = 0.1
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
        """Whether sigma must be known on the evaluation half."""
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
        """What is averaged over prompts, of the shape of its arguments."""
        if self.name == "tradeoff" and self.lam > 0:
            return np.asarray(mean - self.lam * sigma)
        return mean

    def over(self, outcome: Array, among: Mask, counts: Array) -> Array:
        """The objective (B, R, A) of outcomes (R, A, P) among (R, P) with prompts' weights (B, P).

        The cap apart: that is for `best`.
        """
        if self.name == "cvar":
            return tail(outcome, among, counts, self.share)
        return average(outcome, among, counts)

    def best(self, merit: Array, sigma: Array) -> int:
        """The place of the best of settings by their merits and average sigmas, (G,) each.

        The first of equals. Where none keeps the cap it is the one of least sigma.
        """
        if self.risk_cap is None:
            return _first_best(merit)
        kept = sigma <= self.risk_cap
        return _first_best(np.where(kept, merit, np.nan)) if kept.any() else _first_best(-sigma)


def _first_best(merit: Array) -> int:
    """The place of the largest, the first of those that differ by rounding; NaN is the least."""
    known = np.where(np.isnan(merit), -np.inf, merit)
    best = known.max()
    return int(np.argmax(known >= best - ROUNDING * abs(best)))
