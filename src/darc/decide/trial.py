"""A decision on a made-up pool, which refuses parameters before anything is scored."""

from dataclasses import replace

import numpy as np

from darc.decide.decision import decide
from darc.decide.options import SelectOptions
from darc.decide.pools import Pools
from darc.decide.rule import Rule


def check_parameters(rule: Rule, options: SelectOptions, scorers: int = 1) -> None:
    """Raise what a decision by this rule raises for its parameters.

    Some values only the rule itself can judge, and it judges them when it decides. This takes as
    long as a small decision, so it is done once for a rule and not for each prompt.

    Args:
        rule: The rule, with its parameters and without side inputs that it needs.
        options: How samples are compared.
        scorers: The number of scorers.

    Raises:
        InputError: If a parameter cannot be used.
    """
    # Constants of scorers do not matter to parameters.
    trial = replace(options, normalize=None)
    decide(rule, Pools.with_options(np.zeros((1, scorers, 2, 2)), trial))
