"""Side inputs: numbers about the candidates that some rules need besides the samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from darc.decide.rule import Rule
from darc.decide.statistics.arrays import as_samples
from darc.errors import InputError
from darc.typing import Array

#: The shape of each side input: one number per candidate ("K"), per pair of candidates ("KK"), or
#: per candidate and stochastic pass ("KT"). One that is not listed, as that of a rule of another
#: package, has one number per candidate.
SIDE_INPUTS = {
    "log_likelihood": "K",
    "tokens": "K",
    "atypicality": "K",
    "similarity": "KK",
    "dropout": "KT",
    "prediction": "K",
}
#: How to name the scorer of each side input that a scorer can give.
SIDE_SCORERS = {
    "log_likelihood": "loglik:MODEL",
    "atypicality": "SCORER",
    "dropout": "dropout:MODEL",
    "same_call": "without:ARGUMENT,...",
}


def side_inputs_for(rule: Rule, side: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the side inputs of one prompt that a rule needs or can use.

    Args:
        rule: The rule.
        side: All side inputs of the prompt, by name.

    Returns:
        Arrays by the name of the side input.

    Raises:
        InputError: If a side input that the rule needs is missing.
    """
    for name in rule.required():
        if name not in side:
            message = f"rule {rule.name!r} needs {name!r}, which the generator does not give"
            raise missing_side_input(message, name)
    names = [name for name in rule.side_names if name in side]
    return {name: np.asarray(side[name], dtype=np.float64) for name in names}


def missing_side_input(message: str, name: str) -> InputError:
    """An error that says which scorer to name for a side input."""
    scorer = SIDE_SCORERS.get(name, "SCORER")
    return InputError(message, f"name a scorer for it: --side {name}={scorer}")


def check_side_inputs(side: Mapping[str, Any], prompts: int, candidates: int) -> dict[str, Array]:
    """Check the shapes of the side inputs that a user gives.

    Args:
        side: Arrays by name, with a leading axis for the prompts.
        prompts: The number of prompts.
        candidates: The largest number of candidates of a prompt.

    Returns:
        The arrays, as floats.

    Raises:
        InputError: If one has the wrong shape or is not numeric.
    """
    arrays = {name: as_samples(value, name=name) for name, value in side.items()}
    for name, array in arrays.items():
        expected = (prompts, candidates, *_further_axes(name, candidates, array))
        if array.shape != expected:
            raise InputError(
                f"{name} has the shape {array.shape[1:]}, not {expected[1:]}",
                "give one row per candidate, in the order of the scores",
            )
    return arrays


def _further_axes(name: str, candidates: int, array: Array) -> tuple[int, ...]:
    """The sizes of a side input's axes after prompts and candidates."""
    shape = SIDE_INPUTS.get(name, "K")
    if shape == "KK":
        return (candidates,)
    if shape == "KT":
        return array.shape[-1:]
    return ()
