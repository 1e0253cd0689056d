"""Side inputs: numbers about the candidates that some rules need besides the samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from darc.decide.rule import Rule
from darc.errors import InputError

# How to name the scorer of each side input that a scorer can give.
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
