"""The methods that a tuning tries, on the scale of the data."""

from collections.abc import Mapping
from math import floor, log10

import numpy as np

from darc.decide.method import Method
from darc.decide.registry import rules
from darc.decide.side_inputs import SIDE_INPUTS
from darc.decide.statistics import risk
from darc.decide.tuning_grid import BETAS, STRENGTHS, Knob, Scale, steps
from darc.errors import InputError, UnknownName
from darc.typing import Array

BEST_OF_K = Method.of("mean")


def scale_of(samples: Array, side: Mapping[str, Array], normalized: bool) -> Scale:
    """The scale of some samples.

    Args:
        samples: Samples (P, M, K, n).
        side: Side inputs by name, (P, K, ...).
        normalized: Whether rules see the samples in units of 1.

    Raises:
        InputError: Nothing varies.
    """
    prompts, scorers, candidates, _ = samples.shape
    deviation = _typical_deviation(samples.reshape(prompts * scorers, -1))
    if not deviation > 0:
        raise InputError("the ratings do not vary within a prompt", "there is nothing to tune")
    spreads = []
    for name, array in side.items():
        if SIDE_INPUTS.get(name) != "KT":
            spread = _typical_deviation(array.reshape(prompts, -1))
            if spread > 0:
                spreads.append((name, one_two_five(spread)))
    unit = 1.0
    if not normalized:
        unit = one_two_five(deviation)
    return Scale(unit, candidates, tuple(spreads))


def one_two_five(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, by ratio."""
    power = floor(log10(value))
    near = [digit * 10.0**place for place in (power, power + 1) for digit in (1, 2, 5)]
    nearest = min(near, key=lambda number: abs(np.log(number / value)))
    return float(f"{nearest:.1e}")


def tunable(scorers: int, side: Mapping[str, object]) -> tuple[list[str], dict[str, str]]:
    """Say which rules can be tuned.

    Args:
        scorers: The number of scorers.
        side: The side inputs by name.

    Returns:
        The names of the rules that can be tuned, and why each other one cannot.
    """
    names = []
    absent = {}
    scale = Scale(1.0, 2, tuple((name, 1.0) for name in side))
    for name in rules:
        rule = rules.get(name)
        if rule.grid is None:
            continue
        variants = [rule.bind(**parameters) for parameters in rule.grid(scale, "coarse")]
        if not any(set(variant.required()) <= side.keys() for variant in variants):
            missing = next(needed for needed in rule.required() if needed not in side)
            absent[name] = f"needs the side input {missing!r}"
        elif scorers < rule.inputs.min_scorers:
            absent[name] = "needs several scorers"
        else:
            names.append(name)
    return names, absent


def grid(
    rule_name: str,
    scale: Scale,
    size: str = "coarse",
    parameters: Mapping[str, Knob] | None = None,
) -> list[Method]:
    """The methods of one rule, the mildest first; the first one is, or is nearly, Best-of-K.

    Args:
        rule_name: The name of the rule.
        scale: The scale of the data.
        size: How fine the grid is, "coarse" or "fine".
        parameters: Parameters that are the same in all methods, where the rule has them.

    Raises:
        UnknownName: There is no such size.
        InputError: The rule has no grid.
    """
    if size not in STRENGTHS:
        raise UnknownName("grid", size, STRENGTHS)
    rule = rules.get(rule_name)
    if rule.grid is None:
        raise InputError(f"rule {rule_name!r} has no grid", "give its decorator a grid")
    fixed = {name: value for name, value in (parameters or {}).items() if rule.has_parameter(name)}
    settings = [{**fixed, **variant} for variant in rule.grid(scale, size)]
    if rule.by_value:
        betas = steps(0.05, 20.0, BETAS[size], 1 / scale.unit)
        settings = [{**setting, "beta": beta} for beta in betas for setting in settings]
    return [Method.of(rule_name, setting) for setting in settings]


def _typical_deviation(rows: Array) -> float:
    """The median deviation of the rows that vary; 0 where none does."""
    deviation = risk.sigma(rows)
    varying = deviation[deviation > 0]
    if not len(varying):
        return 0.0
    return float(np.median(varying))
