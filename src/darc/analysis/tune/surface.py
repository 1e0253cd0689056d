"""The gains of one rule over the values of its parameters."""

from dataclasses import dataclass

import numpy as np

from darc.analysis.tune.tuning import TunedRule
from darc.decide.method import Method
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class Surface:
    """Gains over Best-of-K on all prompts, by one parameter, or by one and beta."""

    #: The name of the rule.
    rule: str
    #: The parameter along the horizontal axis.
    knob: str
    #: The values of that parameter, (X,).
    across: Array
    #: The values of beta, (Y,), None where the gains are a line.
    upwards: Array | None
    #: The gains, (X,) or (Y, X).
    gain: Array
    #: The method chosen on all prompts.
    chosen: Method
    #: The methods chosen without each fold.
    by_fold: tuple[Method, ...]

    def place(self, method: Method) -> tuple[int, int] | None:
        """Where a method is, (x, y), or None: a fold may have chosen another kind or scale."""
        if not _same_kind(method, self.chosen):
            return None
        x = _index(self.across, method.parameters[self.knob])
        y: int | None = 0
        if self.upwards is not None:
            y = _index(self.upwards, method.beta)
        if x is None or y is None:
            return None
        return x, y


def surface_of(row: TunedRule) -> Surface:
    """The surface of a rule through its chosen method, by the first number among its parameters.

    Of a rule with several kinds of parameters (tau and quantile, c and lam) it is the kind chosen.
    """
    chosen = row.setting
    knob = next(name for name, value in chosen.parameters.items() if not isinstance(value, str))
    points = [(method, gain) for method, gain in row.surface if _same_kind(method, chosen)]
    across = sorted({method.parameters[knob] for method, _ in points})
    upwards = None
    if knob == "beta" or "beta" not in chosen.parameters:
        gain_at = {method.parameters[knob]: gain for method, gain in points}
        gains = np.array([gain_at[x] for x in across])
    else:
        betas = sorted({method.beta for method, _ in points})
        gain_on_plane = {(method.beta, method.parameters[knob]): gain for method, gain in points}
        gains = np.array([[gain_on_plane[y, x] for x in across] for y in betas])
        upwards = np.array(betas)
    return Surface(
        rule=row.rule,
        knob=knob,
        across=np.array(across),
        upwards=upwards,
        gain=gains,
        chosen=chosen,
        by_fold=row.by_fold,
    )


def _index(values: Array, value: float) -> int | None:
    """The index of a value, None where it is not among them."""
    places = np.flatnonzero(values == value)
    if not places.size:
        return None
    return int(places[0])


def _same_kind(one: Method, other: Method) -> bool:
    """Whether two methods differ in the numbers of the same parameters only."""
    if one.parameters.keys() != other.parameters.keys():
        return False
    words = {name: value for name, value in one.parameters.items() if isinstance(value, str)}
    return all(other.parameters[name] == word for name, word in words.items())
