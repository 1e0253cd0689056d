"""The settings that are tried, on the scale of the data."""

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
        if SIDE_INPUTS.get(name) != "KT"
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
    known, absent = [], {}
    scale = Scale(1.0, 2, tuple((name, 1.0) for name in side))
    for name in rules:
        rule = rules.get(name)
        if rule.grid is None:
            continue
        needs = [rule.bind(**each).required() for each in rule.grid(scale, "coarse")]
        if not any(set(names) <= side.keys() for names in needs):
            missing = next(each for each in rule.required() if each not in side)
            absent[name] = f"needs the side input {missing!r}"
        elif scorers < rule.inputs.min_scorers:
            absent[name] = "needs several scorers"
        else:
            known.append(name)
    return known, absent


def grid(
    rule: str, scale: Scale, size: str = "coarse", shared: Mapping[str, Knob] | None = None
) -> list[Method]:
    """The settings of one rule, the mildest first; the first one is, or is nearly, Best-of-K.

    Args:
        rule: The name of the rule.
        scale: The scale of the data.
        size: How fine the grid is, "coarse" or "fine".
        shared: Parameters that are the same in all settings, where the rule has them.
    """
    if size not in STRENGTHS:
        raise UnknownName("grid", size, STRENGTHS)
    found = rules.get(rule)
    if found.grid is None:
        raise InputError(f"rule {rule!r} has no grid", "give its decorator a grid")
    variants = found.grid(scale, size)
    own = {name: value for name, value in (shared or {}).items() if found.has_parameter(name)}
    settings = [{**own, **variant} for variant in variants]
    if found.by_value:
        betas = steps(0.05, 20.0, BETAS[size], 1 / scale.unit)
        settings = [{**setting, "beta": beta} for beta in betas for setting in settings]
    return [Method.of(rule, setting) for setting in settings]


def _typical(rows: Array) -> float:
    """The median deviation of the rows that vary; 0 where none does."""
    deviation = risk.sigma(rows)
    varied = deviation[deviation > 0]
    return float(np.median(varied)) if len(varied) else 0.0
