"""Which answers to show so that a stated share of them at most is bad.

Each calibration prompt has a score, computed from the ratings that select, and a loss in [0, 1] of
the chosen answer, measured by other raters. An answer is shown when its score reaches a threshold.
All promises hold for any score and any distribution, as long as the calibration prompts, their
raters and the number of selecting raters are drawn like those at work.
"""

import math

import numpy as np

from darc.errors import InputError
from darc.typing import Array, Mask

# The confidence of the promise "shown" is one less this.
DEFAULT_DELTA = 0.05
# How many thresholds each of the two sequences tests.
STEPS = 12
# The largest bet, as a share of what would lose everything.
LARGEST_BET = 0.75


def least_held_share(loss: Array, level: float) -> float:
    """The least share of prompts that any method must hold back.

    Args:
        loss: The loss of always answering, by prompt.
        level: The largest share of bad answers that is wanted.
    """
    base_risk = float(np.mean(loss))
    return max(0.0, (base_risk - level) / (1 - level))


def shown_threshold(
    score: Array, loss: Array, level: float, delta: float = DEFAULT_DELTA, seed: int = 0
) -> float:
    """The smallest tested threshold above which the expected loss is at most `level`.

    This is "learn then test": thresholds are placed by the scores alone and tested from strict to
    loose in two fixed sequences, each at delta / 2, until the first failure.

    Args:
        score: The score of each calibration prompt.
        loss: The loss of each calibration prompt, in [0, 1].
        level: The largest expected loss among the answers shown.
        delta: The probability, over calibrations, that the promise fails.
        seed: The seed of the order in which losses that are not 0 or 1 are bet on.

    Returns:
        The threshold; infinite if no answer can be shown.
    """
    score, loss = _checked(score, loss, level)
    prompts = len(score)
    by_score = np.sort(score)[::-1]
    fewest = min(prompts, math.ceil(2 * math.log(2 / delta) / level))
    shuffled = np.random.default_rng(seed).permutation(prompts)
    is_binary = bool(np.isin(loss, (0.0, 1.0)).all())
    best = math.inf
    for start in sorted({fewest, max(fewest, prompts // 2)}):
        sizes = np.unique(np.round(np.geomspace(start, prompts, STEPS)).astype(np.int64))
        for size in sizes:
            threshold = float(by_score[size - 1])
            is_shown = score >= threshold
            if is_binary:
                p_value = binomial_p_value(loss[is_shown], level)
            else:
                p_value = betting_p_value(loss[shuffled[is_shown[shuffled]]], level)
            if p_value > delta / 2:
                break
            best = min(best, threshold)
    return best


def overall_threshold(score: Array, loss: Array, level: float) -> float:
    """The smallest threshold with at most `level` bad answers per prompt, shown or not.

    This is conformal risk control: (sum of shown losses + 1) / (prompts + 1) <= level.

    Args:
        score: The score of each calibration prompt.
        loss: The loss of each calibration prompt, in [0, 1].
        level: The largest expected loss per prompt; a prompt that is held back has none.

    Returns:
        The threshold; infinite if no answer can be shown.
    """
    score, loss = _checked(score, loss, level)
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    total = np.cumsum(loss[order])
    is_kept = (total + 1) / (len(loss) + 1) <= level
    # Equal scores are shown together, so only the last of them can be a threshold.
    ends_block = np.append(ordered[1:] < ordered[:-1], True)
    kept_so_far = np.logical_and.accumulate(is_kept | ~ends_block)
    usable = np.flatnonzero(kept_so_far & ends_block & is_kept)
    if not len(usable):
        return math.inf
    return float(ordered[usable[-1]])


def shown_in_batch(score: Array, is_bad: Array, new_score: Array, level: float) -> Mask:
    """Which answers of a batch of new prompts to show.

    This is conformal selection: among the answers shown, the expected share of bad ones is at most
    `level`, on average over calibrations and batches.

    Args:
        score: The score of each calibration prompt.
        is_bad: 0 or 1 per calibration prompt: the verdict of one other rater, drawn at random.
        new_score: The scores of the new prompts.
        level: The largest expected share of bad answers among those shown.

    Returns:
        True for each new prompt whose answer may be shown.
    """
    score, is_bad = _checked(score, is_bad, level)
    bad_scores = np.sort(score[is_bad > 0])
    at_least = len(bad_scores) - np.searchsorted(bad_scores, new_score, side="left")
    p_value = (1 + at_least) / (len(score) + 1)
    ordered = np.sort(p_value)
    limits = level * np.arange(1, len(p_value) + 1) / max(len(p_value), 1)
    below = np.flatnonzero(ordered <= limits)
    if not len(below):
        return np.zeros(len(p_value), dtype=bool)
    return np.asarray(p_value <= ordered[below[-1]])


def binomial_p_value(loss: Array, level: float) -> float:
    """The exact p-value of "the expected loss exceeds `level`" for losses that are 0 or 1."""
    trials = len(loss)
    failures = min(max(round(float(loss.sum())), 0), trials)
    log_factorial = np.array([math.lgamma(number + 1) for number in range(trials + 1)])
    counts = np.arange(failures + 1)
    log_choices = log_factorial[trials] - log_factorial[counts] - log_factorial[trials - counts]
    log_probability = (
        log_choices + counts * math.log(level) + (trials - counts) * math.log1p(-level)
    )
    return float(min(1.0, np.exp(log_probability).sum()))


def betting_p_value(loss: Array, level: float) -> float:
    """The p-value of "the expected loss exceeds `level`" by betting (Waudby-Smith and Ramdas).

    Args:
        loss: Losses in [0, 1], in a random order.
        level: The expected loss that is tested.
    """
    if not len(loss):
        return 1.0
    steps = np.arange(1, len(loss) + 1)
    mean = (0.5 + np.cumsum(loss)) / (steps + 1)
    mean_before = np.append(0.5, mean[:-1])
    variance = (0.25 + np.cumsum((loss - mean_before) ** 2)) / (steps + 1)
    variance_before = np.append(0.25, variance[:-1])
    bet = np.sqrt(2 * math.log(20) / (len(loss) * variance_before))
    bet = np.minimum(LARGEST_BET / (1 - level), bet)
    log_wealth = np.cumsum(np.log1p(-bet * (loss - level)))
    return float(min(1.0, math.exp(-log_wealth.max())))


def _checked(score: Array, loss: Array, level: float) -> tuple[Array, Array]:
    """The scores and losses as arrays of one length, with a level between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"the level {level:g} is not between 0 and 1", "write for example 0.1")
    scores = np.asarray(score, dtype=np.float64)
    losses = np.asarray(loss, dtype=np.float64)
    if scores.shape != losses.shape or scores.ndim != 1 or not len(scores):
        raise InputError(
            f"scores of shape {scores.shape} and losses of shape {losses.shape} do not match",
            "give one score and one loss per calibration prompt",
        )
    return scores, losses
