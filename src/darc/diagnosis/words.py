"""A diagnosis in plain words: what to believe, what to do, and what could not be told."""

import math
from dataclasses import dataclass

import numpy as np

from darc.diagnosis.diagnose import Diagnosis
from darc.diagnosis.groups import Latent
from darc.diagnosis.panel import repeated
from darc.diagnosis.reliability import TARGETS

SIGNAL = 0.5
SOME = 0.2
DOUBT = 0.05
REPEATED = 0.8


@dataclass(frozen=True)
class Words:
    """What sigma is (signal, some, noise, unknown or none), in sentences; no rule is named."""

    verdict: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def words(diagnosis: Diagnosis) -> Words:
    """The diagnosis as sentences, the most important one first."""
    verdict = _verdict(diagnosis)
    said = [_headline(diagnosis, verdict), _needed(diagnosis, verdict), _means(diagnosis)]
    said += [_follows(diagnosis, verdict), *_groups(diagnosis), _odd(diagnosis)]
    return Words(verdict, tuple(filter(None, said)), tuple(_notes(diagnosis)))


def _noun(diagnosis: Diagnosis, count: int | None = None) -> str:
    kind = "rater" if diagnosis.panel.kind == "rater" else "sample"
    return kind if count == 1 else f"{kind}s"


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


def _headline(diagnosis: Diagnosis, verdict: str) -> str:
    if verdict == "none":
        return _nothing(diagnosis)
    each, found = diagnosis.each, diagnosis.sigma_within
    start = f"With {each} {_noun(diagnosis, each)} your disagreement estimate"
    if verdict == "unknown":
        return (
            f"{start} cannot be checked, which takes 4: its reliability is about {found.value:.2f}"
            " if the ratings are Gaussian, and less if now and then one is far off."
        )
    value, span = (
        found.value,
        "" if math.isnan(found.low) else f", {found.low:.2f} to {found.high:.2f}",
    )
    if not diagnosis.sigmas:
        value, span = max(value, 0.0), ", if the ratings are Gaussian"
    number = f"(reliability {value:.2f}{span})"
    if verdict == "noise":
        how = "is mostly noise" if value < SOME else "may be noise"
        return f"{start} {how} {number}: near-tie breaking by sigma will not help."
    if verdict == "some":
        return f"{start} is part signal, part noise {number}: sigma alone is a weak tie-breaker."
    half = each // 2
    fewer = f" (half of them would have {found.at(half):.2f})" if half >= 2 else ""
    return f"{start} is mostly signal {number}: other raters would see it again{fewer}."


def _nothing(diagnosis: Diagnosis) -> str:
    """Why there is no reliability of sigma."""
    panel = diagnosis.panel
    if np.nanmin(panel.values) == np.nanmax(panel.values):
        return "All ratings are equal: there is nothing to choose by."
    if panel.counts.max() < 2:
        return "There is one rating a candidate: disagreement cannot be seen."
    if np.bincount(panel.prompts).max() < 2:
        return "Every prompt has one candidate: there is nothing to choose from."
    return "Sigma is the same for all candidates of a prompt: it cannot break a tie."


def _needed(diagnosis: Diagnosis, verdict: str) -> str:
    if verdict in ("none", "unknown"):
        return ""
    found = diagnosis.sigma_within
    if found.value <= 0:
        return (
            "No number of raters is known to help: what shows of sigma in one half of them"
            " does not return in the other."
        )
    parts = []
    for target in (each for each in TARGETS if found.value < each):
        span = found.needed_span(target)
        count = f"about {found.needed(target):.0f} {_noun(diagnosis)}"
        parts.append(f"{target:g} with {count}" + (f" ({span})" if span else ""))
    about = "" if diagnosis.sigmas else ", if the ratings are Gaussian"
    return f"Sigma's reliability would reach {' and '.join(parts)}{about}." if parts else ""


def _means(diagnosis: Diagnosis) -> str:
    found = diagnosis.means.get("within")
    if found is None or math.isnan(found.value):
        return ""
    if found.value < SIGNAL:
        return (
            f"The means themselves are uncertain (reliability {max(found.value, 0.0):.2f} within"
            f" prompts): more {_noun(diagnosis)} would help every rule."
        )
    return f"The ranking by means is repeatable (reliability {found.value:.2f} within prompts)."


def _follows(diagnosis: Diagnosis, verdict: str) -> str:
    if verdict not in ("signal", "some", "unknown") or not abs(diagnosis.follows) >= SIGNAL:
        return ""
    way = "worse" if diagnosis.follows < 0 else "better"
    return (
        f"Much of sigma only follows the mean (correlation {diagnosis.follows:.2f}): it is the"
        f" {way} candidates that are disputed, as at the end of a scale."
    )


def _groups(diagnosis: Diagnosis) -> list[str]:
    said = []
    groups = diagnosis.groups
    if groups is not None:
        names = f": {' and '.join(groups.sizes)}" if len(groups.sizes) == 2 else ""
        if groups.taste_p <= DOUBT:
            said.append(f"Groups prefer different candidates{names} (p {groups.taste_p:.3f}).")
        elif groups.severity_p <= DOUBT:
            said.append(f"Groups differ in severity{names} (p {groups.severity_p:.3f}).")
    if found_groups(diagnosis.latent):
        first, second = diagnosis.latent.first, diagnosis.latent.second
        said.append(
            f"Raters seem to be of two kinds (p {diagnosis.latent.p_value:.3f}):"
            f" {_listed(first)} against {_listed(second)}."
        )
    return said


def found_groups(latent: Latent) -> bool:
    """Whether two kinds of raters, two of each at least, stand out from noise."""
    return latent.p_value <= DOUBT and len(latent.first) >= 2


def _listed(names: tuple[str, ...], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _odd(diagnosis: Diagnosis) -> str:
    odd = [f"{rater.name} ({', '.join(rater.flags)})" for rater in diagnosis.raters if rater.flags]
    return f"Raters to look at: {_listed(tuple(odd))}." if odd else ""


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
