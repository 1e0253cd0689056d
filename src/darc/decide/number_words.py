"""The numbers behind a decision in words."""

from typing import Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.statistics.risk import entropic_value
from darc.typing import Array, Mask

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_STATISTIC_NAMES = {"value": "value", "sigma": "sigma", "risk_premium": "risk premium"}
# Digits that two numbers may take until they look different.
_DIGITS = range(3, 18)


def numbers_in_words(decision: Decision) -> str:
    """Explain a decision by its numbers.

    Returns:
        The ranks of the choice, the reason of the rule and, for a rule that depends on beta, why
        the candidate with the largest mean was not chosen.
    """
    name = decision.labels.candidate(decision.index)
    among = ""
    if _some_have_too_few(decision):
        among = "of those with enough samples " if decision.partly else "of these "
    sentences = [f"{name}: {_ranks(decision)}", among + _reason(decision)]
    mean = decision.statistics.mean
    ahead = decision.pools.eligible[0] & _is_above(mean, decision)
    if ahead.any() and decision.rule.by_value and not decision.partly:
        leader = int(np.argmax(np.where(ahead, mean, -np.inf)))
        sentences.append(_lost_lead(decision, leader))
    return "; ".join(sentences)


def _some_have_too_few(decision: Decision) -> bool:
    """Whether a candidate has, or may turn out to have, too few samples to be chosen."""
    pools = decision.pools
    if not decision.partly:
        return bool(pools.left_out.any())
    count = decision.statistics.count
    needed = count.max() / 2 if pools.min_samples is None else pools.min_samples
    may_have_too_few = pools.present[0] & (count < needed)
    return bool(pools.left_out.any() or may_have_too_few.any())


def _ranks(decision: Decision) -> str:
    """The chosen candidate's places among the eligible ones, or its numbers where not known."""
    chosen = decision.index
    statistics = decision.statistics
    arrays = {"mean": statistics.mean, "value": statistics.value, "sigma": statistics.sigma}
    defined = {name: array for name, array in arrays.items() if not np.isnan(array[chosen])}
    if decision.partly:
        numbers = [f"{name} {defined[name][chosen]:.3g}" for name in defined if name != "mean"]
        return ", ".join(numbers)
    some_left_out = bool(decision.pools.left_out.any())
    eligible_count = int(decision.pools.eligible[0].sum())
    if eligible_count == 1:
        return "the only one with enough samples" if some_left_out else "the only candidate"
    ranks = ", ".join(_rank(decision, name, array) for name, array in defined.items())
    if some_left_out:
        return f"of the {eligible_count} with enough samples {ranks}"
    return ranks


def _rank(decision: Decision, name: str, array: Array) -> str:
    """The place of the chosen candidate by one statistic, such as "joint second by mean"."""
    eligible = decision.pools.eligible[0]
    key = -array if name == "sigma" else array
    better = int((eligible & _is_above(key, decision)).sum())
    place = f"{better + 1}th"
    if better < len(ORDINALS):
        place = ORDINALS[better]
    if name == "sigma":
        rank = f"{place} lowest sigma".replace("first lowest", "lowest")
    else:
        rank = f"{place} by {name}"
    with np.errstate(invalid="ignore"):
        tied = eligible & (np.abs(key - key[decision.index]) <= _slack(decision))
    if int(tied.sum()) > 1:
        return f"joint {rank}"
    return rank


def _slack(decision: Decision) -> Array:
    """How far each candidate may be from the chosen one and still tie with it, (K,)."""
    tolerance = decision.pools.tolerance[0]
    return np.asarray(np.maximum(tolerance, tolerance[decision.index]))


def _is_above(key: Array, decision: Decision) -> Mask:
    """Which candidates are above the chosen one by more than a tie, (K,)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(key > key[decision.index] + _slack(decision))


def _reason(decision: Decision) -> str:
    """The rule's own reason, such as "it has the largest mean"."""
    facts: dict[str, Any] = {name: array[0] for name, array in decision.choice.facts.items()}
    if "near" in facts:
        facts["near"] = "those" if decision.partly else f"the {facts['near']}"
    facts["hedge"] = ""
    if "scorer" in facts:
        lowest = decision.labels.scorer(int(facts["scorer"]))
        facts["hedge"] = f", hedged over its scorers, of which {lowest} is lowest"
    return _reason_template(decision).format(**{**decision.rule.parameters, **facts})


def _reason_template(decision: Decision) -> str:
    """The text of the rule's reason, with places for its parameters and facts."""
    wording = decision.rule.wording
    for flag in decision.flags:
        if wording.instead.get(flag):
            return f"it has {wording.instead[flag]}"
    chosen_alone = int(decision.feasible.sum()) == 1 and not decision.partly
    if wording.alone and chosen_alone:
        return f"it is {wording.alone}"
    return f"it has {wording.explanation}"


def _lost_lead(decision: Decision, leader: int) -> str:
    """What the candidate with the largest mean has against it."""
    name = decision.labels.candidate(leader)
    some_left_out = bool(decision.pools.left_out.any())
    outliers = _count_outliers(decision, leader)
    if outliers:
        lead = "its lead among these" if some_left_out else "its lead"
        return f"{_count_samples(decision, outliers)} far below the rest cost {name} {lead}"
    leads = f"{name} leads these by mean" if some_left_out else f"{name} leads by mean"
    statistics = decision.statistics
    weaknesses = ["risk_premium", "value", "sigma"]
    if _is_above(statistics.value, decision)[leader]:
        leads += " and value"
        weaknesses = [decision.rule.wording.weakness]
    else:
        leads += f" ({_compare(statistics.mean, leader, decision.index)})"
    for weakness in weaknesses:
        array = getattr(statistics, weakness)
        weakness_name = _STATISTIC_NAMES[weakness]
        if np.isnan(array[leader]):
            return f"{leads}, but its {weakness_name} is undefined"
        worse = -array if weakness == "value" else array
        if _is_above(worse, decision)[leader]:
            numbers = _compare(array, leader, decision.index)
            return f"{leads}, but its {weakness_name} is {numbers}"
    return leads


def _count_samples(decision: Decision, count: int) -> str:
    """A number of samples in words, such as "two raters"."""
    number = str(count)
    if count < len(NUMBERS):
        number = NUMBERS[count]
    noun = decision.labels.sample
    if count == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def _compare(array: Array, first: int, second: int) -> str:
    """Two numbers with as many digits as it takes to tell them apart."""
    for digits in _DIGITS:
        first_text = f"{array[first]:.{digits}g}"
        second_text = f"{array[second]:.{digits}g}"
        if first_text != second_text:
            return f"{first_text} against {second_text}"
    return f"{array[first]:.3g} against {array[second]:.3g}"


def _count_outliers(decision: Decision, leader: int) -> int:
    """Count the lowest samples that cost the leader by mean the largest value.

    Returns:
        How many samples, at most a third of them. 0 unless they also lie further from the rest
        than the rest spreads, and 0 for several scorers.
    """
    pools = decision.pools
    value = decision.statistics.value
    if pools.shape[1] != 1 or pools.weights is not None:
        return 0
    samples = np.sort(pools.normalized(pools.samples)[0, 0, leader])
    samples = samples[~np.isnan(samples)]
    best = float(np.nanmax(np.where(pools.eligible[0], value, np.nan)))
    slack = float(np.max(pools.tolerance[0]))
    if value[leader] >= best - slack:
        return 0
    for count in range(1, len(samples) // 3 + 1):
        rest = samples[count:]
        if float(entropic_value(rest, pools.beta)) > best + slack:
            gap = rest[0] - samples[count - 1]
            spread = rest[-1] - rest[0]
            return count if gap >= spread else 0
    return 0
