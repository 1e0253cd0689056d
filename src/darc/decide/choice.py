"""What a rule chose, and how it picks the best of several candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.decide.pools import Pools
from darc.typing import Array, Integers, Mask


@dataclass(frozen=True)
class Choice:
    """A rule's choices for P prompts with K candidates each."""

    #: The chosen candidate of each prompt, (P,).
    index: Integers
    #: What the rule compared, (P, K); larger is better, and NaN where it is undefined.
    objective: Array
    #: The candidates that the rule chose from, (P, K).
    feasible: Mask
    #: Conditions that a user should know of, by name: for which prompts they hold, (P,).
    flags: Mapping[str, Mask] = field(default_factory=dict)
    #: Numbers or texts for the explanation, (P,), such as the threshold that was used.
    facts: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def one(self, position: int) -> "Choice":
        """The choice for one prompt, as a batch of one.

        Args:
            position: The place of the prompt in the batch.
        """
        row = slice(position, position + 1)
        return Choice(
            index=self.index[row],
            objective=self.objective[row],
            feasible=self.feasible[row],
            flags={name: raised[row] for name, raised in self.flags.items()},
            facts={name: fact[row] for name, fact in self.facts.items()},
        )


def pick(keys: Sequence[Array], among: Mask, tolerance: Array) -> Integers:
    """Pick the candidate that is best by the first key; ties go to the next key.

    Args:
        keys: What to compare, (P, K) each; larger is better, and NaN is worst.
        among: The candidates to pick from, (P, K).
        tolerance: Two candidates tie if they differ by no more than the larger of their two
            tolerances, (P, K).

    Returns:
        The index of one candidate per prompt, (P,): the lowest of those that tie by all keys.
    """
    rows = np.arange(len(among))
    remaining = among
    for key in keys:
        ranked = np.where(remaining & ~np.isnan(key), key, -np.inf)
        top = ranked.argmax(axis=1)
        best = ranked[rows, top][:, None]
        slack = np.maximum(tolerance, tolerance[rows, top][:, None])
        with np.errstate(invalid="ignore"):
            tied = remaining & (ranked >= best - slack)
        remaining = np.where(np.isneginf(best), remaining, tied)
    return remaining.argmax(axis=1)


def largest(
    pools: Pools,
    objective: Array,
    among: Mask | None = None,
    fallback: Array | None = None,
    flags: Mapping[str, Mask] | None = None,
    facts: Mapping[str, NDArray[Any]] | None = None,
) -> Choice:
    """Choose the largest objective; ties go to the larger mean, then to the lower index.

    Args:
        pools: The pools to choose from.
        objective: What to compare, (P, K).
        among: The candidates to choose from, (P, K). By default the eligible ones.
        fallback: Takes the place of the objective in a prompt where no candidate has a defined
            objective, as with a single sample and no sigma. The flag `no_sigma` is raised there.
        flags: Flags of the choice.
        facts: Facts of the choice.

    Returns:
        The choice for each prompt.
    """
    feasible = pools.eligible if among is None else among
    all_flags = dict(flags or {})
    if fallback is not None:
        undefined = ~np.any(feasible & ~np.isnan(objective), axis=1)
        objective = np.where(undefined[:, None], fallback, objective)
        all_flags["no_sigma"] = undefined
    index = pick([objective, pools.statistics.mean], feasible, pools.tolerance)
    return Choice(index, objective, feasible, all_flags, facts or {})
