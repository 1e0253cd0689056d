"""A rule with its parameters as text, such as "epsilon:epsilon=0.5,beta=2"."""

from typing import Any

from darc.registry import parse_pairs

CAUTION = "caution"


def split_rule_text(text: str) -> tuple[str, dict[str, Any]]:
    """Split a text into the name of a rule and the parameters that it gives.

    Args:
        text: The name of a rule, and its parameters after a colon.

    Returns:
        The name, and the parameters with their values, among which may be beta and gamma.

    Raises:
        InputError: If a parameter is not written as KEY=VALUE.
    """
    name, _, rest = text.partition(":")
    pairs = [pair for pair in rest.split(",") if pair.strip()]
    parameters = parse_pairs(pairs, f"rule {name!r}:")
    if CAUTION in parameters and parameters[CAUTION] is None:
        # Elsewhere the text "none" stands for a value that is missing.
        parameters[CAUTION] = "none"
    return name.strip(), parameters
