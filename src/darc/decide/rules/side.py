"""Rules that look at more than scores: a side input, such as what answers have in common."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from darc.decide.choice import Choice, largest
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.statistics.arrays import check_level, check_share, check_weight
from darc.decide.tuning_grid import Scale, Variants, knob
from darc.errors import InputError
from darc.typing import Array, Level, Positive, Reward, Share, Tail


def _mbr_grid(scale: Scale, size: str) -> Variants:
    """Uniform weights, and weights by reward at every temperature but 0."""
    temperatures = knob("temperature", 0.05, 5.0, power=1)(scale, size)[1:]
    by_reward = [{"weights": "reward", **variant} for variant in temperatures]
    return [{"weights": "uniform"}, *by_reward]


@rule(
    "mbr",
    needs=("similarity",),
    takes=("copies",),
    explanation="the largest mean similarity to the others",
    grid=_mbr_grid,
)
def mbr(
    pools: Pools,
    *,
    weights: Literal["uniform", "reward"] = "uniform",
    temperature: Positive = 1.0,
) -> Choice:
    """Largest mean similarity to the other candidates (side input `similarity`, K x K).

    With weights="reward" the others count by exp(mean / temperature), so that the answer is like
    good ones (arXiv 2505.17242). An answer that was written several times (side input `copies`)
    counts as often.
    """
    if weights not in ("uniform", "reward"):
        raise InputError(f"weights must be 'uniform' or 'reward', not {weights!r}")
    if not 0 < check_level("temperature", temperature) < np.inf:
        raise InputError(f"temperature must be above 0, not {temperature}", "1 is usual")
    if weights == "uniform":
        return largest(pools, mean_similarity(pools))
    return largest(pools, mean_similarity(pools, pools.statistics.mean / temperature))


def mean_similarity(pools: Pools, logits: Array | None = None) -> Array:
    """Average how similar each candidate is to the other present ones.

    Args:
        pools: The pools, with the side input `similarity`.
        logits: The others count by exp(logits), (P, K). By default they count alike.

    Returns:
        Mean similarities, (P, K); 0 for an only candidate. Copies of a candidate are others, too.
    """
    similarity = pools.side_input("similarity")
    copies = pools.copies[:, None, :] - np.eye(similarity.shape[1])
    is_other = pools.present[:, None, :] & (copies > 0)
    if logits is None:
        logits = np.zeros(pools.present.shape)
    log_weight = np.where(is_other, logits[:, None, :], -np.inf)
    top = log_weight.max(axis=2, keepdims=True)
    weight = copies * np.exp(log_weight - np.where(np.isfinite(top), top, 0.0))
    total = np.where(is_other, weight * similarity, 0.0).sum(axis=2)
    return np.asarray(total / np.maximum(weight.sum(axis=2), 1e-300))


# Shares of votes that differ by less are equal.
ROUNDING_OF_SHARES = 1e-9


def _majority_needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    by = parameters["by"]
    if by == "meaning":
        return ("similarity",)
    if by in ("text", "number", "call"):
        return (f"same_{by}",)
    return ()


def _majority_grid(scale: Scale, size: str) -> Variants:
    """Shares from 0 to 1, and the largest class."""
    count = {"coarse": 6, "fine": 21}[size]
    shares = np.linspace(0, 1, count).round(2).tolist()
    variants: Variants = [{"share": share} for share in shares]
    return [*variants, {}]


@rule(
    "majority",
    needs=_majority_needs,
    takes=("copies",),
    explanation="the largest mean of {near} whose answer is shared by enough others",
    alone="the only one whose answer is shared by enough others",
    instead={"no_majority": "the largest mean"},
    evaluated_by_default=False,
    grid=_majority_grid,
)
def majority(
    pools: Pools,
    *,
    by: Literal["text", "number", "call", "meaning"] = "text",
    share: Share | None = None,
    alike: Tail = 0.9,
) -> Choice:
    """Largest mean of the answers that a `share` of the candidates agree on, or most if not given.

    Candidates agree where the side input same_text, same_number (the last one) or same_call (K,)
    has the same number, or by="meaning", where a chain of similarities of at least `alike` connects
    them. Where no answer has the share all candidates count (arXiv 2510.03199). An answer that was
    written several times (side input `copies`) has as many votes.
    """
    if by not in ("text", "number", "call", "meaning"):
        raise InputError(f"by must be 'text', 'number', 'call' or 'meaning', not {by!r}")
    if by == "meaning":
        same = pools.side_input("similarity") >= check_share("alike", alike)
        for _ in range(int(same.shape[1]).bit_length()):
            same = (same.astype(float) @ same) > 0
    else:
        codes = pools.side_input(f"same_{by}")
        same = codes[:, :, None] == codes[:, None, :]
    same = (same | np.eye(same.shape[1], dtype=bool)) & pools.present[:, None, :]
    votes = np.where(pools.present, pools.copies, 0.0)
    votes_of_class = (same * votes[:, None, :]).sum(axis=2)
    share_of_class = votes_of_class / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    if share is None:
        needed = np.where(pools.eligible, share_of_class, 0.0).max(axis=1, keepdims=True)
    else:
        needed = np.full((1, 1), check_level("share", share))
    agreed = pools.eligible & (share_of_class >= needed - ROUNDING_OF_SHARES)
    no_majority = ~agreed.any(axis=1)
    return largest(
        pools,
        pools.statistics.mean,
        np.where(no_majority[:, None], pools.eligible, agreed),
        flags={"no_majority": no_majority},
        facts={"near": agreed.sum(axis=1)},
    )


def _rbon_needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    if parameters["form"] == "wd":
        return ("similarity",)
    if parameters["per_token"]:
        return ("log_likelihood",)
    return ("log_likelihood", "tokens")


def _rbon_grid(scale: Scale, size: str) -> Variants:
    """Both forms as far as their side inputs vary; 0, which is the same in both, once."""
    grid: Variants = []
    for form, side in (("kl", "log_likelihood"), ("wd", "similarity")):
        if side in dict(scale.spreads):
            variants = knob("b", 0.02, 5.0, power=1, per=side)(scale, size)
            if grid:
                variants = variants[1:]
            grid += [{**variant, "form": form} for variant in variants]
    return grid or [{"b": 0.0}]


@rule(
    "rbon",
    needs=_rbon_needs,
    takes=("copies",),
    explanation="the largest reward plus {b:g} times its regulariser",
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
    weight = check_weight("b", b)
    if form == "wd":
        bonus = mean_similarity(pools)
    elif form == "kl":
        bonus = pools.side_input("log_likelihood")
        if not per_token:
            bonus = bonus * pools.side_input("tokens")
    else:
        raise InputError(f"form must be 'kl' or 'wd', not {form!r}")
    return largest(pools, pools.reward(reward) + weight * bonus)


@rule(
    "caution",
    needs=("atypicality",),
    explanation="the largest reward less {a:g} times its atypicality",
    grid=knob("a", 0.02, 5.0, power=1, per="atypicality"),
)
def caution(pools: Pools, *, a: Level = 1.0, reward: Reward = "mean") -> Choice:
    """Largest reward - a * atypicality (side input `atypicality` (K,), a probability)."""
    penalty = check_weight("a", a) * pools.side_input("atypicality")
    return largest(pools, pools.reward(reward) - penalty)
