"""The settings that are tried, on the scale of the data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log10

import numpy as np

from darc.core import risk
from darc.errors import InputError, UnknownName
from darc.registry import rules
from darc.selection.rule import Rule
from darc.typing import Array

Knob = float | str


@dataclass(frozen=True)
class Setting:
    """A rule's name and parameters, and beta, None for rules that do not depend on it."""

    rule: str
    parameters: Mapping[str, Knob] = field(default_factory=dict)
    beta: float | None = None

    @property
    def knobs(self) -> dict[str, Knob]:
        """The parameters, and beta where it matters."""
        beta = {} if self.beta is None else {"beta": self.beta}
        return {**self.parameters, **beta}

    @property
    def text(self) -> str:
        """As every command takes it, such as "epsilon:epsilon=0.5,beta=2"."""
        given = ",".join(
            f"{name}={value if isinstance(value, str) else format(value, '.6g')}"
            for name, value in self.knobs.items()
        )
        return f"{self.rule}:{given}" if given else self.rule

    def bound(self) -> Rule:
        """The rule with its parameters, beta apart."""
        return rules.get(self.rule).bind(**self.parameters)


BEST_OF_K = Setting("mean")


Variants = list[dict[str, Knob]]

SIZES = {"coarse": (8, 9), "fine": (45, 66)}
PAPER_RATES = (4.0, 8.0, 12.0, 16.0)
QUANTILES = {"coarse": 10, "fine": 25}
SHARES = {"coarse": 8, "fine": 16}


@dataclass(frozen=True)
class Scale:
    """What the grids are scaled by.

    `unit` is the typical deviation of a prompt's samples in the units the rules see, `candidates`
    the largest K, `spreads` the typical deviation of each side input within a prompt. Units and
    spreads are rounded to 1, 2 or 5 times a power of ten, so that they hardly depend on the data.
    """

    unit: float
    candidates: int
    spreads: tuple[tuple[str, float], ...] = ()

    def spread(self, name: str) -> float:
        """The spread of a side input."""
        return dict(self.spreads)[name]


def scale_of(samples: Array, side: Mapping[str, Array], normalized: bool) -> Scale:
    """The `Scale` of samples (P, M, K, n); `normalized` says that the rules see them in units of 1.

    Raises an `InputError` where nothing varies.
    """
    prompts, candidates = len(samples), samples.shape[2]
    deviation = _typical(samples.reshape(prompts * samples.shape[1], -1))
    if not deviation > 0:
        raise InputError("the ratings do not vary within a prompt", "there is nothing to tune")
    spreads = {
        name: _typical(array.reshape(prompts, -1))
        for name, array in side.items()
        if name in ("log_likelihood", "similarity", "atypicality")
    }
    found = tuple((name, one_two_five(value)) for name, value in spreads.items() if value > 0)
    return Scale(1.0 if normalized else one_two_five(deviation), candidates, found)


def one_two_five(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, by ratio."""
    power = floor(log10(value))
    near = [digit * 10.0**place for place in (power, power + 1) for digit in (1, 2, 5)]
    return float(f"{min(near, key=lambda number: abs(np.log(number / value))):.1e}")


def tunable(scorers: int, side: Mapping[str, object]) -> tuple[list[str], dict[str, str]]:
    """The rules that can be tuned, and those that cannot, with the reason."""
    missing = {
        "rbon": () if {"log_likelihood", "similarity"} & side.keys() else ("log_likelihood",),
        "caution": () if "atypicality" in side else ("atypicality",),
        "mc_dropout": () if "dropout" in side else ("dropout",),
    }
    absent = {
        name: f"needs the side input {needs[0]!r}" for name, needs in missing.items() if needs
    }
    if scorers < 2:
        absent["uwo"] = "needs several scorers"
    return [name for name in VARIANTS if name in rules and name not in absent], absent


def grid(rule: str, scale: Scale, size: str = "coarse") -> list[Setting]:
    """The settings of one rule, the mildest first; the first one is, or is nearly, Best-of-K."""
    if size not in SIZES:
        raise UnknownName("grid", size, SIZES)
    betas: Sequence[float | None] = [None]
    if rules.get(rule).by_value:
        betas = _steps(0.05, 20.0, SIZES[size][0], 1 / scale.unit)
    variants = VARIANTS[rule](scale, size)
    return [Setting(rule, variant, beta) for beta in betas for variant in variants]


def _steps(low: float, high: float, count: int, unit: float = 1.0) -> list[float]:
    """0 and `count` numbers from low to high in equal ratios, times the unit, in few digits."""
    digits = 1 if count < 20 else 2
    steps = (float(f"{step:.{digits}e}") for step in np.geomspace(low, high, count))
    return [0.0, *(float(f"{step * unit:.5g}") for step in steps)]


def _along(name: str, low: float, high: float, power: int = 0) -> Callable[[Scale, str], Variants]:
    """Variants of one knob in equal ratios, times the unit to this power."""

    def variants(scale: Scale, size: str) -> Variants:
        return [{name: v} for v in _steps(low, high, SIZES[size][1], scale.unit**power)]

    return variants


def _tau(scale: Scale, size: str) -> Variants:
    shares = [round(1 - i / QUANTILES[size], 4) for i in range(QUANTILES[size] + 1)]
    caps = _steps(0.01, 2.0, QUANTILES[size], scale.unit)[:0:-1]
    by_share: Variants = [
        {"quantile": share, "objective": objective}
        for objective in ("value", "mean")
        for share in shares
    ]
    return by_share + [{"tau": cap} for cap in caps]


def _lcb(scale: Scale, size: str) -> Variants:
    return _along("c", 0.05, 5.0)(scale, size) + _along("lam", 0.05, 5.0)(scale, size)[1:]


def _cvar(_: Scale, size: str) -> Variants:
    count = SHARES[size]
    shares = {round((i + 1) / count, 4) for i in range(count)} | {0.1}
    return [{"alpha": share} for share in sorted(shares, reverse=True)]


def _poisson(scale: Scale, size: str) -> Variants:
    rates = {float(f"{r:.2g}") for r in np.geomspace(1, 4 * scale.candidates, SIZES[size][1])}
    return [{"rate": rate} for rate in sorted(rates | set(PAPER_RATES), reverse=True)]


def _rbon(scale: Scale, size: str) -> Variants:
    found: Variants = []
    for form, name in (("kl", "log_likelihood"), ("wd", "similarity")):
        if name in dict(scale.spreads):
            unit = scale.unit / scale.spread(name)
            found += [
                {"b": b, "form": form}
                for b in _steps(0.02, 5.0, SIZES[size][1], unit)[len(found) > 0 :]
            ]
    return found or [{"b": 0.0}]


def _caution(scale: Scale, size: str) -> Variants:
    spread = dict(scale.spreads).get("atypicality", 1.0)
    return [{"a": a} for a in _steps(0.02, 5.0, SIZES[size][1], scale.unit / spread)]


VARIANTS: dict[str, Callable[[Scale, str], Variants]] = {
    "auto": lambda scale, size: [{}],
    "epsilon": _along("epsilon", 0.02, 4.0, 1),
    "tau": _tau,
    "penalty": _along("lam", 0.05, 10.0),
    "entropic": lambda scale, size: [{}],
    "lcb": _lcb,
    "cvar": _cvar,
    "poisson": _poisson,
    "soft": _along("temperature", 0.02, 2.0, 1),
    "uwo": _along("lam", 0.05, 10.0, -1),
    "rbon": _rbon,
    "caution": _caution,
    "mc_dropout": _along("lam", 0.05, 5.0),
}


def _typical(rows: Array) -> float:
    """The median deviation of the rows that vary; 0 where none does."""
    deviation = risk.sigma(rows)
    varied = deviation[deviation > 0]
    return float(np.median(varied)) if len(varied) else 0.0
