"""A diagnosis in plain words: what to believe, what to do, and what could not be told."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.diagnosis import Diagnosis
from darc.analysis.diagnose.panel import repeated
from darc.analysis.diagnose.reliability import TARGETS

SIGNAL = 0.5
SOME = 0.2
DOUBT = 0.05
REPEATED = 0.8
GAUSSIAN = ", if the ratings are Gaussian"


@dataclass(frozen=True)
class Words:
    """What sigma is (signal, some, noise, unknown or none), in sentences; no rule is named."""

    verdict: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def words(diagnosis: Diagnosis) -> Words:
    """The diagnosis as sentences, the most important one first."""
    noun = "rater" if diagnosis.panel.kind == "rater" else "sample"
    verdict, means = _verdict(diagnosis), diagnosis.means.get("within")
    said = [_headline(diagnosis, verdict, noun)]
    if verdict not in ("none", "unknown"):
        said.append(_needed(diagnosis, noun))
    if means is not None and means.value >= SIGNAL:
        said.append(
            f"The ranking by means is repeatable (reliability {means.value:.2f} within prompts)."
        )
    elif means is not None and means.value < SIGNAL:
        said.append(
            f"The means themselves are uncertain (reliability {max(means.value, 0.0):.2f} within"
            f" prompts): more {noun}s would help every rule."
        )
    if verdict in ("signal", "some", "unknown") and abs(diagnosis.follows) >= SIGNAL:
        way = "worse" if diagnosis.follows < 0 else "better"
        said.append(
            f"Much of sigma only follows the mean (correlation {diagnosis.follows:.2f}): it is the"
            f" {way} candidates that are disputed, as at the end of a scale."
        )
    said += _groups(diagnosis)
    odd = [f"{rater.name} ({', '.join(rater.flags)})" for rater in diagnosis.raters if rater.flags]
    if odd:
        said.append(f"Raters to look at: {_listed(odd)}.")
    return Words(verdict, tuple(filter(None, said)), tuple(_notes(diagnosis)))


def _verdict(diagnosis: Diagnosis) -> str:
    """What sigma is worth, by its reliability within prompts."""
    found = diagnosis.sigma_within
    if math.isnan(diagnosis.gaussian.value) or math.isnan(found.value):
        return "none"
    if not diagnosis.sigmas:
        return "noise" if found.value < SOME else "unknown"
    # With one prompt there is no interval, and no ground to trust a number.
    sure = found.low > 0 and found.p_value <= DOUBT
    if found.value < SOME or not sure:
        return "noise"
    return "signal" if found.value >= SIGNAL else "some"


def _headline(diagnosis: Diagnosis, verdict: str, noun: str) -> str:
    """What sigma is worth, or why nothing can be said of it."""
    panel, each, found = diagnosis.panel, diagnosis.each, diagnosis.sigma_within
    if verdict == "none":
        if np.nanmin(panel.values) == np.nanmax(panel.values):
            return "All ratings are equal: there is nothing to choose by."
        if panel.counts.max() < 2:
            return "There is one rating a candidate: disagreement cannot be seen."
        if np.bincount(panel.prompts).max() < 2:
            return "Every prompt has one candidate: there is nothing to choose from."
        return "Sigma is the same for all candidates of a prompt: it cannot break a tie."
    start = f"With {each} {noun if each == 1 else f'{noun}s'} your disagreement estimate"
    if verdict == "unknown":
        return (
            f"{start} cannot be checked, which takes 4: its reliability is about {found.value:.2f}"
            " if the ratings are Gaussian, and less if now and then one is far off."
        )
    value = found.value
    span = "" if math.isnan(found.low) else f", {found.low:.2f} to {found.high:.2f}"
    if not diagnosis.sigmas:
        value, span = max(value, 0.0), GAUSSIAN
    number = f"(reliability {value:.2f}{span})"
    if verdict == "noise":
        how = "is mostly noise" if value < SOME else "may be noise"
        return f"{start} {how} {number}: near-tie breaking by sigma will not help."
    if verdict == "some":
        return f"{start} is part signal, part noise {number}: sigma alone is a weak tie-breaker."
    half = each // 2
    fewer = f" (half of them would have {found.at(half):.2f})" if half >= 2 else ""
    return f"{start} is mostly signal {number}: other raters would see it again{fewer}."


def _needed(diagnosis: Diagnosis, noun: str) -> str:
    """How many raters sigma would take, nothing where there are enough."""
    found = diagnosis.sigma_within
    if found.value <= 0:
        return (
            "No number of raters is known to help: what shows of sigma in one half of them"
            " does not return in the other."
        )
    parts = []
    for target in (each for each in TARGETS if found.value < each):
        span = found.needed_span(target)
        count = f"about {found.needed(target):.0f} {noun}s"
        parts.append(f"{target:g} with {count}" + (f" ({span})" if span else ""))
    about = "" if diagnosis.sigmas else GAUSSIAN
    return f"Sigma's reliability would reach {' and '.join(parts)}{about}." if parts else ""


def _groups(diagnosis: Diagnosis) -> list[str]:
    """How given groups differ, and two kinds of raters, two of each at least, beyond noise."""
    said = []
    groups, latent = diagnosis.groups, diagnosis.latent
    if groups is not None:
        names = f": {' and '.join(groups.sizes)}" if len(groups.sizes) == 2 else ""
        if groups.taste_p <= DOUBT:
            said.append(f"Groups prefer different candidates{names} (p {groups.taste_p:.3f}).")
        elif groups.severity_p <= DOUBT:
            said.append(f"Groups differ in severity{names} (p {groups.severity_p:.3f}).")
    if latent.p_value <= DOUBT and len(latent.first) >= 2:
        said.append(
            f"Raters seem to be of two kinds (p {latent.p_value:.3f}):"
            f" {_listed(latent.first)} against {_listed(latent.second)}."
        )
    return said


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _notes(diagnosis: Diagnosis) -> list[str]:
    """What could not be told, and why."""
    panel = diagnosis.panel
    prompts, able = len(panel.prompt_names), int((panel.counts >= 4).sum())
    people, alone = panel.kind == "rater", panel.named and len(panel.rater_names) == 1
    few = panel.named and not alone and not diagnosis.raters
    single = np.bincount(panel.prompts).max() < 2
    unknown = [part.name for part in diagnosis.components if math.isnan(part.variance)]
    apart = unknown and np.nanmin(panel.values) < np.nanmax(panel.values)
    some = f"Only {able} of {panel.counts.size} candidates have the 4 ratings that it takes"
    twice = f"In {repeated(panel):.0%} of the candidates with 4 ratings or more, every rating"
    notes = {
        "There is one prompt: no interval over prompts, and no test.": prompts == 1,
        f"There are only {prompts} prompts: intervals are rough.": 1 < prompts < 10,
        "Some ratings have no rater: severity, agreement and groups are left out.": (
            people and not panel.named
        ),
        "There is one rater: nobody to compare with.": alone,
        "Raters have too few ratings each to be compared.": few,
        "Samples are rewrites, not people: nothing is said of raters.": not people,
        "Every prompt has one candidate: nothing is compared within prompts.": single,
        f"{some} to check sigma.": able > 0 and not diagnosis.sigmas,
        f"{twice} is there twice: look for copied rows.": repeated(panel) >= REPEATED,
        f"The design cannot tell these components apart: {', '.join(unknown)}.": apart,
    }
    return [note for note, holds in notes.items() if holds]
