"""Decisions in words."""

from typing import TYPE_CHECKING

import numpy as np

from darc.core import risk

if TYPE_CHECKING:
    from darc.selection.decision import Decision

FLAGS = {
    "infeasible": "no candidate met the cap on the risk premium, so all were compared",
    "no_sigma": "sigma is undefined with one sample each, so the rule fell back on the value",
    "few_samples": "candidates with too few samples were left out",
    "constant_scorer": "a scorer gave every candidate the same score and was ignored",
    "small_sample": "beta times sigma is large for so few samples: the true risk is likely larger",
    "capped": "the random number of candidates exceeded the pool and was cut to it",
    "unfinished": "the search was stopped early; this is the best choice so far",
    "clipped": "samples outside the bounds were clipped",
}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def words(decision: "Decision") -> str:
    """Why the candidate was chosen: its ranks, the rule's reason, who lost the lead and by what."""
    name = decision.labels.candidate(decision.index)
    sentences = [f"{name}: {_ranks(decision)}; {_reason(decision)}"]
    leader = _leader(decision)
    if leader != decision.index and decision.rule.by_value and not _partly(decision):
        sentences.append(_lost_lead(decision, leader))
    sentences += [FLAGS.get(flag, flag) for flag in decision.flags]
    return "; ".join(sentences) + "."


def _partly(decision: "Decision") -> bool:
    """Whether some candidates were ruled out early, so that their ranks are not known."""
    return decision.bounded is not None and bool(decision.bounded.any())


def _ranks(decision: "Decision") -> str:
    statistics, eligible = decision.statistics, decision.pools.eligible[0]
    if _partly(decision):
        value, sigma = statistics.value[decision.index], statistics.sigma[decision.index]
        return f"value {value:.3g}" + ("" if np.isnan(sigma) else f", sigma {sigma:.3g}")
    by_mean = _rank(statistics.mean, decision.index, eligible)
    by_value = _rank(statistics.value, decision.index, eligible)
    by_calm = _rank(-statistics.sigma, decision.index, eligible)
    parts = [f"{by_mean} by mean", f"{by_value} by value"]
    if by_calm:
        parts.append("lowest sigma" if by_calm == "first" else f"{by_calm} lowest sigma")
    return ", ".join(parts)


def _rank(key: np.ndarray, index: int, among: np.ndarray) -> str:
    if np.isnan(key[index]):
        return ""
    better = int((among & (key > key[index] + 1e-12 * abs(key[index]))).sum())
    return ORDINALS[better] if better < len(ORDINALS) else f"{better + 1}th"


def _reason(decision: "Decision") -> str:
    facts: dict[str, object] = {n: array[0] for n, array in decision.choice.facts.items()}
    if "near" in facts:
        facts["near"] = "those" if _partly(decision) else f"the {facts['near']}"
    rule = decision.rule
    lonely = bool(rule.alone) and int(decision.feasible.sum()) == 1 and not _partly(decision)
    text = f"it is {rule.alone}" if lonely else f"it has {rule.because}"
    return text.format(**{**rule.parameters, **facts})


def _leader(decision: "Decision") -> int:
    """The candidate that Best-of-K would choose."""
    eligible = decision.pools.eligible[0]
    return int(np.argmax(np.where(eligible, np.nan_to_num(decision.statistics.mean), -np.inf)))


def _lost_lead(decision: "Decision", leader: int) -> str:
    """What cost the candidate with the largest mean its lead."""
    statistics, labels = decision.statistics, decision.labels
    name = labels.candidate(leader)
    if statistics.value[leader] >= statistics.value[decision.index]:
        return (
            f"{name} leads by mean and value, but its sigma is {statistics.sigma[leader]:.3g} "
            f"against {statistics.sigma[decision.index]:.3g}"
        )
    low = _outliers(decision, leader)
    if low:
        count = NUMBERS[low] if low < len(NUMBERS) else str(low)
        noun = labels.sample if low == 1 else f"{labels.sample}s"
        return f"{count} {noun} far below the rest cost {name} its lead"
    return (
        f"{name} leads by mean ({statistics.mean[leader]:.3g} against "
        f"{statistics.mean[decision.index]:.3g}), but its risk premium is "
        f"{statistics.risk_premium[leader]:.3g} against "
        f"{statistics.risk_premium[decision.index]:.3g}"
    )


def _outliers(decision: "Decision", leader: int) -> int:
    """How many of the leader's lowest samples, at most a third, would have to go for it to win.

    0 unless they also lie further from the rest than the rest spreads; one scorer only.
    """
    pools = decision.pools
    if pools.shape[1] != 1:
        return 0
    samples = np.sort(pools.samples[0, 0, leader])
    samples = samples[~np.isnan(samples)]
    for low in range(1, len(samples) // 3 + 1):
        rest = samples[low:]
        gap, spread = rest[0] - samples[low - 1], rest[-1] - rest[0]
        value = float(risk.entropic_value(rest, pools.beta))
        own = decision.statistics.scale[0] * decision.statistics.value[decision.index]
        if value > own + decision.statistics.location[0]:
            return low if gap >= spread else 0
    return 0
