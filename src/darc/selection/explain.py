"""Decisions in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.core import risk
from darc.typing import Array, Mask

if TYPE_CHECKING:
    from darc.selection.decision import Decision

FLAGS = {
    "infeasible": "no eligible candidate met the cap on the risk premium, so it was not applied",
    "no_sigma": "sigma is undefined with one sample, so the rule did without it",
    "shrunk": "candidates with fewer samples were drawn towards the average",
    "few_samples": "candidates with too few samples were left out",
    "constant_scorer": "a scorer gave every candidate the same score and counts as 0 for all",
    "small_sample": "beta times sigma is large for so few samples: the true risk is likely larger",
    "capped": "more candidates were to be drawn than are eligible",
    "unfinished": "the search was stopped early; this is the best choice so far",
    "no_rewrites": "no rewrite was accepted, so the originals were scored",
    "clipped": "samples outside the bounds were clipped",
    "missing_grades": "grades that could not be had: {}",
    "rater_failed": "rater {} graded fewer than half of what it was asked",
}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
NAMES = {"value": "value", "sigma": "sigma", "risk_premium": "risk premium"}


def words(decision: "Decision") -> str:
    """Why the candidate was chosen: its ranks, the rule's reason, who leads by mean and lost."""
    name, partly = decision.labels.candidate(decision.index), _partly(decision)
    of_these = ""
    if _some_too_few(decision):
        of_these = "of those with enough samples " if partly else "of these "
    sentences = [f"{name}: {_ranks(decision)}", of_these + _reason(decision)]
    leader = _leader(decision)
    if leader is not None and decision.rule.by_value and not partly:
        sentences.append(_lost_lead(decision, leader))
    sentences += [flag_words(flag) for flag in decision.flags]
    return "; ".join(sentences) + "."


def flag_words(flag: str, words: Mapping[str, str] = FLAGS) -> str:
    """A flag in words; what follows its colon has a place in them."""
    name, _, what = flag.partition(":")
    return words[name].format(what) if name in words else flag


def _partly(decision: "Decision") -> bool:
    """Whether some candidates were ruled out early, so that their ranks are not known."""
    return decision.bounded is not None and bool(decision.bounded.any())


def _some_too_few(decision: "Decision") -> bool:
    """Whether a candidate has, or may turn out to have, too few samples to be chosen."""
    pools, count = decision.pools, decision.statistics.count
    if not _partly(decision):
        return bool(pools.left_out.any())
    least = count.max() / 2 if pools.min_samples is None else pools.min_samples
    return bool(pools.left_out.any() or (pools.present[0] & (count < least)).any())


def _ranks(decision: "Decision") -> str:
    """The chosen candidate's places among the eligible ones, or its numbers where not known."""
    statistics, own, eligible = decision.statistics, decision.index, decision.pools.eligible[0]
    arrays = {"mean": statistics.mean, "value": statistics.value, "sigma": statistics.sigma}
    known = {name: array for name, array in arrays.items() if not np.isnan(array[own])}
    if _partly(decision):
        return ", ".join(f"{name} {known[name][own]:.3g}" for name in known if name != "mean")
    left_out = bool(decision.pools.left_out.any())
    if eligible.sum() == 1:
        return "the only one with enough samples" if left_out else "the only candidate"
    parts = []
    for name, array in known.items():
        place, tied = _rank(-array if name == "sigma" else array, decision)
        if name == "sigma":
            place = "lowest sigma" if place == "first" else f"{place} lowest sigma"
        else:
            place = f"{place} by {name}"
        parts.append(f"joint {place}" if tied else place)
    return (f"of the {eligible.sum()} with enough samples " if left_out else "") + ", ".join(parts)


def _rank(key: Array, decision: "Decision") -> tuple[str, bool]:
    """The chosen candidate's place among the eligible ones, and whether it shares it."""
    eligible, own = decision.pools.eligible[0], decision.index
    better = int((eligible & _above(key, own, decision)).sum())
    with np.errstate(invalid="ignore"):
        close = np.abs(key - key[own]) <= _slack(decision, own)
    place = ORDINALS[better] if better < len(ORDINALS) else f"{better + 1}th"
    return place, int((eligible & close).sum()) > 1


def _slack(decision: "Decision", own: int) -> Array:
    """How far each candidate may be from this one and still tie with it, (K,)."""
    tolerance = decision.pools.tolerance[0]
    return np.asarray(np.maximum(tolerance, tolerance[own]))


def _above(key: Array, own: int, decision: "Decision") -> Mask:
    """Which candidates are above this one by more than a tie, (K,)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(key > key[own] + _slack(decision, own))


def _reason(decision: "Decision") -> str:
    facts: dict[str, Any] = {n: array[0] for n, array in decision.choice.facts.items()}
    if "near" in facts:
        facts["near"] = "those" if _partly(decision) else f"the {facts['near']}"
    facts["hedge"] = ""
    if "scorer" in facts:
        lowest = decision.labels.scorer(int(facts["scorer"]))
        facts["hedge"] = f", hedged over its scorers, of which {lowest} is lowest"
    rule = decision.rule
    text = next((rule.instead[flag] for flag in decision.flags if flag in rule.instead), "")
    lonely = bool(rule.alone) and int(decision.feasible.sum()) == 1 and not _partly(decision)
    text = f"it is {rule.alone}" if lonely and not text else f"it has {text or rule.because}"
    return text.format(**{**rule.parameters, **facts})


def _leader(decision: "Decision") -> int | None:
    """The eligible candidate with the largest mean; None if the chosen one is as good by it."""
    mean = decision.statistics.mean
    above = decision.pools.eligible[0] & _above(mean, decision.index, decision)
    return int(np.argmax(np.where(above, mean, -np.inf))) if above.any() else None


def _lost_lead(decision: "Decision", leader: int) -> str:
    """What the candidate with the largest mean has against it."""
    own, name = decision.index, decision.labels.candidate(leader)
    these = decision.pools.left_out.any()
    low = _outliers(decision, leader)
    if low:
        count = NUMBERS[low] if low < len(NUMBERS) else str(low)
        noun = decision.labels.sample if low == 1 else f"{decision.labels.sample}s"
        lead = "its lead among these" if these else "its lead"
        return f"{count} {noun} far below the rest cost {name} {lead}"
    leads = f"{name} leads these by mean" if these else f"{name} leads by mean"
    value = decision.statistics.value
    weaknesses = ["risk_premium", "value", "sigma"]
    if _above(value, own, decision)[leader]:
        leads += " and value"
        weaknesses = [decision.rule.weakness]
    else:
        leads += f" ({_against(decision.statistics.mean, leader, own)})"
    for weakness in weaknesses:
        array = getattr(decision.statistics, weakness)
        if np.isnan(array[leader]):
            return f"{leads}, but its {NAMES[weakness]} is undefined"
        worse = -array if weakness == "value" else array
        if _above(worse, own, decision)[leader]:
            return f"{leads}, but its {NAMES[weakness]} is {_against(array, leader, own)}"
    return leads


def _against(array: Array, one: int, other: int) -> str:
    """Two numbers with as many digits as it takes to tell them apart."""
    shown = [[f"{array[k]:.{digits}g}" for k in (one, other)] for digits in range(3, 18)]
    return " against ".join(next((pair for pair in shown if pair[0] != pair[1]), shown[0]))


def _outliers(decision: "Decision", leader: int) -> int:
    """How many of the leader's lowest samples, at most a third, cost it the largest value.

    0 unless they also lie further from the rest than the rest spreads; one scorer only.
    """
    pools, value = decision.pools, decision.statistics.value
    if pools.shape[1] != 1 or pools.weights is not None:
        return 0
    samples = np.sort(pools.normalized(pools.samples)[0, 0, leader])
    samples = samples[~np.isnan(samples)]
    best = float(np.nanmax(np.where(pools.eligible[0], value, np.nan)))
    slack = float(np.max(pools.tolerance[0]))
    if value[leader] >= best - slack:
        return 0
    for low in range(1, len(samples) // 3 + 1):
        rest = samples[low:]
        gap, spread = rest[0] - samples[low - 1], rest[-1] - rest[0]
        if float(risk.entropic_value(rest, pools.beta)) > best + slack:
            return low if gap >= spread else 0
    return 0
