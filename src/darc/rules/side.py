"""Rules that look at more than scores: a side input, such as what answers have in common."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from darc.core.arrays import check_level
from darc.errors import InputError
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Scale, Variants, knob, largest
from darc.typing import Level, Reward


@rule("mbr", needs=("similarity",), because="the largest mean similarity to the others")
def mbr(pools: Pools) -> Choice:
    """Largest mean similarity to the other candidates (side input `similarity`, K x K)."""
    return largest(pools, mean_similarity(pools))


def mean_similarity(pools: Pools) -> NDArray[np.float64]:
    """Each candidate's mean similarity to the other present ones, (P, K); 0 for an only one."""
    similarity = pools.side_input("similarity")
    others = pools.present[:, None, :] & ~np.eye(similarity.shape[1], dtype=bool)
    total = np.where(others, similarity, 0.0).sum(axis=2)
    return np.asarray(total / np.maximum(others.sum(axis=2), 1))


def _rbon_needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    if parameters["form"] == "wd":
        return ("similarity",)
    return ("log_likelihood",) if parameters["per_token"] else ("log_likelihood", "tokens")


def _rbon_grid(scale: Scale, size: str) -> Variants:
    """Both forms as far as their side inputs vary; 0, which is the same in both, once."""
    found: Variants = []
    for form, side in (("kl", "log_likelihood"), ("wd", "similarity")):
        if side in dict(scale.spreads):
            variants = knob("b", 0.02, 5.0, power=1, per=side)(scale, size)
            found += [{**each, "form": form} for each in variants[len(found) > 0 :]]
    return found or [{"b": 0.0}]


@rule(
    "rbon",
    needs=_rbon_needs,
    because="the largest reward plus {b:g} times its regulariser",
    grid=_rbon_grid,
)
def rbon(
    pools: Pools,
    *,
    b: Level = 0.02,
    form: Literal["kl", "wd"] = "kl",
    per_token: bool = True,
    reward: Reward = "mean",
) -> Choice:
    """Largest reward + b * log-likelihood per token (form `kl`) or + b * similarity (form `wd`).

    Side inputs: `log_likelihood` (K,), the mean per token under the reference policy, and `tokens`
    (K,) with per_token=False, which weighs the whole log-likelihood; or `similarity` (K, K).
    """
    weight = check_level("b", b)
    if form == "wd":
        bonus = mean_similarity(pools)
    elif form == "kl":
        bonus = pools.side_input("log_likelihood")
        bonus = bonus if per_token else bonus * pools.side_input("tokens")
    else:
        raise InputError(f"form must be 'kl' or 'wd', not {form!r}")
    return largest(pools, pools.reward(reward) + weight * bonus)


@rule(
    "caution",
    needs=("atypicality",),
    because="the largest reward less {a:g} times its atypicality",
    grid=knob("a", 0.02, 5.0, power=1, per="atypicality"),
)
def caution(pools: Pools, *, a: Level = 1.0, reward: Reward = "mean") -> Choice:
    """Largest reward - a * atypicality (side input `atypicality` (K,), a probability)."""
    penalty = check_level("a", a) * pools.side_input("atypicality")
    return largest(pools, pools.reward(reward) - penalty)
