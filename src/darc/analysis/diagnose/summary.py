"""A diagnosis in sentences: what to believe and what to do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.diagnosis import Diagnosis
from darc.analysis.diagnose.notes import diagnosis_notes
from darc.analysis.diagnose.reliability import TARGETS

# Reliabilities from which on sigma is mostly signal, and partly signal.
SIGNAL = 0.5
PART_SIGNAL = 0.2
# P-values above this are not taken as evidence.
MAX_P = 0.05
# More names than this are not listed.
MAX_NAMES = 6
# Of more systems than this it is not said who likes them.
MAX_SYSTEMS = 3
GAUSSIAN = ", if the ratings are Gaussian"


@dataclass(frozen=True)
class DiagnosisSummary:
    """A diagnosis in sentences, which name no rule."""

    #: What sigma is: "signal", "some" (part signal), "noise", "unknown" or "none".
    verdict: str
    #: The most important sentence first.
    sentences: tuple[str, ...]
    #: What could not be found out, and why.
    notes: tuple[str, ...]


def summarize_diagnosis(diagnosis: Diagnosis) -> DiagnosisSummary:
    """Put a diagnosis into sentences.

    Args:
        diagnosis: The diagnosis.

    Returns:
        Its verdict, sentences and notes.
    """
    verdict = _verdict(diagnosis)
    noun = "rater" if diagnosis.ratings.kind == "rater" else "sample"
    sentences = [
        _headline(diagnosis, verdict, noun),
        _raters_needed(diagnosis, verdict, noun),
        _means_sentence(diagnosis, noun),
        _end_of_scale_sentence(diagnosis, verdict),
        _given_groups_sentence(diagnosis),
        *_liking_sentences(diagnosis),
        _latent_groups_sentence(diagnosis),
        _odd_raters_sentence(diagnosis),
    ]
    return DiagnosisSummary(
        verdict=verdict,
        sentences=tuple(sentence for sentence in sentences if sentence),
        notes=tuple(diagnosis_notes(diagnosis)),
    )


def _verdict(diagnosis: Diagnosis) -> str:
    """What sigma is worth, by its reliability within prompts."""
    reliability = diagnosis.sigma_within
    if math.isnan(diagnosis.gaussian.value) or math.isnan(reliability.value):
        return "none"
    if reliability.value < PART_SIGNAL:
        return "noise"
    if not diagnosis.sigma_reliability:
        return "unknown"
    # With one prompt there is no interval, and no reason to trust a number.
    significant = reliability.low > 0 and reliability.p_value <= MAX_P
    if not significant:
        return "noise"
    if reliability.value >= SIGNAL:
        return "signal"
    return "some"


def _headline(diagnosis: Diagnosis, verdict: str, noun: str) -> str:
    """What sigma is worth, or why nothing can be said of it."""
    if verdict == "none":
        return _why_no_sigma(diagnosis)
    reliability = diagnosis.sigma_within
    raters = diagnosis.ratings_per_candidate
    start = f"With {_rater_count(diagnosis, noun)} your disagreement estimate"
    if verdict == "unknown":
        return (
            f"{start} cannot be checked, which takes 4: its reliability is about"
            f" {reliability.value:.2f} if the ratings are Gaussian, and less if a rating is"
            " sometimes far off."
        )
    if diagnosis.sigma_reliability:
        value = reliability.value
        span = ""
        if not math.isnan(reliability.low):
            span = f", {reliability.low:.2f} to {reliability.high:.2f}"
    else:
        value = max(reliability.value, 0.0)
        span = GAUSSIAN
    number = f"(reliability {value:.2f}{span})"
    if verdict == "noise":
        how = "is mostly noise" if value < PART_SIGNAL else "may be noise"
        return f"{start} {how} {number}: near-tie breaking by sigma will not help."
    if verdict == "some":
        return f"{start} is part signal, part noise {number}: sigma alone is a weak tie-breaker."
    half = raters // 2
    with_half = ""
    if half >= 2:
        with_half = f" (half of them would have {reliability.with_raters(half):.2f})"
    return f"{start} is mostly signal {number}: other raters would see it again{with_half}."


def _rater_count(diagnosis: Diagnosis, noun: str) -> str:
    """How many raters there are, and how many of them a candidate has if that is not all."""
    per_candidate = diagnosis.ratings_per_candidate
    ratings = diagnosis.ratings
    total = per_candidate
    if ratings.named:
        total = len(ratings.rater_names)
    count = f"{total} {noun}" if total == 1 else f"{total} {noun}s"
    if total == per_candidate:
        return count
    if per_candidate == 1:
        return f"{count}, one per candidate,"
    return f"{count}, {per_candidate} per candidate,"


def _why_no_sigma(diagnosis: Diagnosis) -> str:
    """Why nothing can be said of sigma."""
    ratings = diagnosis.ratings
    if np.nanmin(ratings.values) == np.nanmax(ratings.values):
        return "All ratings are equal: there is nothing to choose by."
    if ratings.counts.max() < 2:
        return "There is one rating per candidate: disagreement cannot be seen."
    if np.bincount(ratings.prompts).max() < 2:
        return "Every prompt has one candidate: there is nothing to choose from."
    return "Sigma is the same for all candidates of a prompt: it cannot break a tie."


def _raters_needed(diagnosis: Diagnosis, verdict: str, noun: str) -> str:
    """How many raters a reliable sigma would take, empty if there are enough."""
    if verdict in ("none", "unknown"):
        return ""
    reliability = diagnosis.sigma_within
    if reliability.value <= 0:
        return (
            "No number of raters is known to help: what sigma shows in one half of the raters"
            " does not return in the other."
        )
    parts = []
    for target in TARGETS:
        if reliability.value < target:
            part = f"{target:g} with about {reliability.raters_needed(target):.0f} {noun}s"
            span = reliability.raters_needed_span(target)
            parts.append(f"{part} ({span})" if span else part)
    if not parts:
        return ""
    assumption = "" if diagnosis.sigma_reliability else GAUSSIAN
    return f"Sigma's reliability would reach {' and '.join(parts)}{assumption}."


def _means_sentence(diagnosis: Diagnosis, noun: str) -> str:
    """Whether the ranking by means is repeatable, empty if unknown."""
    means = diagnosis.mean_reliability.get("within")
    if means is None or math.isnan(means.value):
        return ""
    if means.value >= SIGNAL:
        return f"The ranking by means is repeatable (reliability {means.value:.2f} within prompts)."
    return (
        f"The means themselves are uncertain (reliability {max(means.value, 0.0):.2f} within"
        f" prompts): more {noun}s would help every rule."
    )


def _end_of_scale_sentence(diagnosis: Diagnosis, verdict: str) -> str:
    """Whether sigma only follows the mean, as at the end of a scale; empty if not."""
    correlation = diagnosis.sigma_mean_correlation
    if verdict in ("none", "noise") or not abs(correlation) >= SIGNAL:
        return ""
    which = "worse" if correlation < 0 else "better"
    return (
        f"Much of sigma only follows the mean (correlation {correlation:.2f}): it is the"
        f" {which} candidates that are disputed, as at the end of a scale."
    )


def _given_groups_sentence(diagnosis: Diagnosis) -> str:
    """How groups of raters differ beyond noise, empty if they do not."""
    groups = diagnosis.groups
    if groups is None:
        return ""
    names = ""
    if len(groups.sizes) == 2:
        names = f": {' and '.join(groups.sizes)}"
    if groups.taste_p <= MAX_P:
        return f"Groups prefer different candidates{names} (p {groups.taste_p:.3f})."
    if groups.severity_p <= MAX_P:
        return f"Groups differ in severity{names} (p {groups.severity_p:.3f})."
    return ""


def _liking_sentences(diagnosis: Diagnosis) -> list[str]:
    """Who marks which system down or up beyond chance, one sentence per system."""
    likings = diagnosis.likings
    systems = list(dict.fromkeys(liking.system for liking in likings.notable))
    sentences = []
    for system in systems[:MAX_SYSTEMS]:
        notable = likings.of_system(system)
        parts = []
        for direction, sign in (("down", -1), ("up", 1)):
            chosen = [liking for liking in notable if liking.liking * sign > 0]
            if not chosen:
                continue
            names = _list_names([f"{one.rater} by {abs(one.liking):.2g}" for one in chosen])
            verb = "marks" if len(chosen) == 1 else "mark"
            raters = f"{len(chosen)} of {len(likings.raters)} raters"
            parts.append(f"{raters} {verb} {system} {direction} ({names})")
        sentences.append(f"{', and '.join(parts)}, beyond their severity.")
    return sentences


def _latent_groups_sentence(diagnosis: Diagnosis) -> str:
    """Two kinds of raters, at least two of each, beyond noise; empty if there are none."""
    latent = diagnosis.latent_groups
    if not latent.p_value <= MAX_P or len(latent.first) < 2:
        return ""
    return (
        f"Raters seem to fall into two camps (p {latent.p_value:.3f}):"
        f" {_list_names(latent.first)} against {_list_names(latent.second)}."
    )


def _odd_raters_sentence(diagnosis: Diagnosis) -> str:
    """Which raters to look at, empty if none is odd."""
    odd = [f"{rater.name} ({', '.join(rater.flags)})" for rater in diagnosis.raters if rater.flags]
    if not odd:
        return ""
    return f"Raters to look at: {_list_names(odd)}."


def _list_names(names: Sequence[str]) -> str:
    listed = ", ".join(names[:MAX_NAMES])
    if len(names) > MAX_NAMES:
        return f"{listed} and {len(names) - MAX_NAMES} more"
    return listed
