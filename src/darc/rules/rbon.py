"""Regularised Best-of-N: reward plus closeness to the reference policy or to the other answers."""

from collections.abc import Mapping
from typing import Any, Literal

from darc.core.arrays import check_level
from darc.errors import InputError
from darc.registry import rule
from darc.rules.mbr import mean_similarity
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Scale, Variants, knob, largest
from darc.typing import Level, Reward


def _needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    if parameters["form"] == "wd":
        return ("similarity",)
    return ("log_likelihood",) if parameters["per_token"] else ("log_likelihood", "tokens")


def _grid(scale: Scale, size: str) -> Variants:
    """Both forms as far as their side inputs vary; 0, which is the same in both, once."""
    found: Variants = []
    for form, side in (("kl", "log_likelihood"), ("wd", "similarity")):
        if side in dict(scale.spreads):
            variants = knob("b", 0.02, 5.0, power=1, per=side)(scale, size)
            found += [{**each, "form": form} for each in variants[len(found) > 0 :]]
    return found or [{"b": 0.0}]


@rule(
    "rbon",
    needs=_needs,
    because="the largest reward plus {b:g} times its regulariser",
    grid=_grid,
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
