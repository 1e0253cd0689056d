"""Pessimistic Best-of-N: reward less a learned atypicality."""

from darc.core.arrays import check_level
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, knob, largest
from darc.typing import Level, Reward


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
