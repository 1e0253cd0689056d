"""Everything about a panel put together: may it stand in for people?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from darc.analysis.panel_audit.alternative_annotator import AnnotatorTest, annotator_test
from darc.analysis.panel_audit.drift import Drift
from darc.analysis.panel_audit.effective_number import (
    EffectiveNumber,
    effective_number_against,
    effective_number_alone,
)
from darc.analysis.panel_audit.estimate import Estimate, unknown
from darc.analysis.panel_audit.grades import PanelAndPeople, mean_over
from darc.analysis.panel_audit.probes import MEANINGS, ProbeReport
from darc.analysis.panel_audit.repeats import RepeatAgreement
from darc.analysis.panel_audit.within_prompt_correlations import correlations_with
from darc.typing import Array

_Value = TypeVar("_Value")

# What the panel's mean is called among raters.
WHOLE_PANEL = "the panel's mean"


@dataclass(frozen=True)
class RaterAudit:
    """What is known of one rater of the panel, or of the mean of all."""

    rater: str
    grades: int
    #: The correlation with the mean of the other raters, within prompts; None for the mean.
    with_others: Estimate | None
    #: The correlation with people's means, within prompts; None without people.
    with_people: Estimate | None
    #: The correlation with the length of the answers, within prompts.
    with_length: Estimate
    #: The test of whether it may stand in for one of the people; None without people.
    annotator_test: AnnotatorTest | None


@dataclass(frozen=True)
class PanelAudit:
    """What a panel's grades say of the panel."""

    name: str
    prompts: int
    answers: int
    #: The answers that people rated, too; 0 without people.
    rated_answers: int
    effective: EffectiveNumber
    #: The panel's mean.
    whole: RaterAudit
    raters: tuple[RaterAudit, ...]
    #: How people's means go with the length of the answers; None without people.
    people_with_length: Estimate | None
    length_unit: str
    #: Agreement on repeats; empty without repeats.
    repeats: tuple[RepeatAgreement, ...] = ()
    drift: Drift | None = None
    probes: ProbeReport | None = None


def audit_panel(source: PanelAndPeople, epsilon: float, seed: int = 0) -> PanelAudit:
    """Find out what a panel's grades say of the panel, with or without people.

    Args:
        source: The panel's grades, and people's ratings.
        epsilon: What a person's advantage is worth, as a share of answers.
        seed: The seed of the resamples.
    """
    panel = source.panel
    columns = np.concatenate([panel.mean[..., None], panel.values], axis=2)
    with_length = _with_length(source, columns, seed)
    with_others = _with_others(panel.values, seed)
    audits = []
    effective = effective_number_alone(panel, seed)
    rated_answers = 0
    people_with_length: Estimate | None = None
    with_people: list[Estimate | None] = [None] * columns.shape[2]
    tests: list[AnnotatorTest | None] = [None] * columns.shape[2]
    if source.people is not None and source.graded is not None:
        effective = effective_number_against(source.graded, source.people, seed)
        graded = np.concatenate([source.graded.mean[..., None], source.graded.values], axis=2)
        people_mean = source.people.mean
        rated_answers = int((~np.isnan(people_mean) & ~np.isnan(source.graded.mean)).sum())
        correlations = correlations_with(people_mean, graded, seed)
        with_people = [*_by_name(source, correlations, unknown("it graded none of these"))]
        lengths = source.graded.lengths
        people_with_length = _people_with_length(lengths, people_mean, seed)
        names = (WHOLE_PANEL, *source.graded.raters)
        annotator_tests: list[AnnotatorTest | None] = [
            annotator_test(name, graded[:, :, place], source.people, epsilon, seed)
            for place, name in enumerate(names)
        ]
        tests = _by_name(source, annotator_tests, None)
    names = (WHOLE_PANEL, *panel.raters)
    for place, name in enumerate(names):
        audits.append(
            RaterAudit(
                rater=name,
                grades=int((~np.isnan(columns[:, :, place])).sum()),
                with_others=None if place == 0 else with_others[place - 1],
                with_people=with_people[place],
                with_length=with_length[place],
                annotator_test=tests[place],
            )
        )
    return PanelAudit(
        name=panel.name,
        prompts=len(panel.values),
        answers=int((~np.isnan(panel.mean)).sum()),
        rated_answers=rated_answers,
        effective=effective,
        whole=audits[0],
        raters=tuple(audits[1:]),
        people_with_length=people_with_length,
        length_unit=panel.length_unit,
    )


def _by_name(source: PanelAndPeople, values: Sequence[_Value], absent: _Value) -> list[_Value]:
    """Values of the graded part's mean and raters, in the order of all raters."""
    assert source.graded is not None
    places = {name: place for place, name in enumerate(source.graded.raters, start=1)}
    ordered = [values[0]]
    for name in source.panel.raters:
        place = places.get(name)
        ordered.append(absent if place is None else values[place])
    return ordered


def _with_length(source: PanelAndPeople, columns: Array, seed: int) -> list[Estimate]:
    """How the columns go with the length of the answers."""
    lengths = source.panel.lengths
    if np.isnan(lengths).all():
        reason = unknown("the lengths of the answers are not known")
        return [reason] * columns.shape[2]
    return correlations_with(lengths, columns, seed)


def _people_with_length(lengths: Array, means: Array, seed: int) -> Estimate:
    if np.isnan(lengths).all():
        return unknown("the lengths of the answers are not known")
    return correlations_with(lengths, means[..., None], seed)[0]


def _with_others(values: Array, seed: int) -> list[Estimate]:
    """How each rater goes with the mean of the others, within prompts."""
    raters = values.shape[2]
    if raters < 2:
        return [unknown("there are no other raters")] * raters
    estimates = []
    for place in range(raters):
        others = mean_over(np.delete(values, place, axis=2))
        estimates += correlations_with(others, values[:, :, place : place + 1], seed)
    return estimates


def verdict(audit: PanelAudit) -> list[str]:
    """The audit in sentences, the most important first."""
    sentences = [f"{audit.name}: {audit.effective.sentence}."]
    sentences.append(f"This is by {audit.effective.basis}.")
    sentences += _stand_in_sentences(audit)
    sentences += _length_sentences(audit)
    if not audit.repeats:
        sentences.append("No rater was asked twice, so agreement on repeats is not known.")
    if audit.drift is not None:
        sentences.append(f"Drift: {audit.drift.sentence} ({audit.drift.basis}).")
        if audit.drift.agreement is not None:
            sentences.append(
                "The correlation of the panel's mean with people's has changed by "
                f"{audit.drift.agreement.text()}."
            )
    if audit.probes is not None:
        sentences += _probe_sentences(audit.probes)
    return sentences


def _stand_in_sentences(audit: PanelAudit) -> list[str]:
    """Whether the panel may stand in for one of the people."""
    test = audit.whole.annotator_test
    if test is None:
        return ["Whether it may stand in for people cannot be known without people's ratings."]
    sentences = []
    if audit.whole.with_people is not None:
        sentences.append(
            f"{WHOLE_PANEL.capitalize()} correlates {audit.whole.with_people.text()} with people's "
            "mean ratings, within prompts."
        )
    if test.reason:
        sentences.append(f"The alternative-annotator test was not made: {test.reason}.")
        return sentences
    won = sum(person.is_won for person in test.people)
    outcome = (
        f"it wins over {won} of {len(test.people)} people (winning rate {test.winning_rate:.2f}, "
        f"epsilon {test.epsilon:g}; it takes 0.5) and is at least as close to the others as a "
        f"person in a share of answers of {test.advantage.text()}"
    )
    if test.passes and not follows_people(audit):
        sentences.append(
            "This panel may not stand in for one of your raters: its grades do not follow people's "
            f"within prompts beyond chance, although {outcome}."
        )
    elif test.passes:
        sentences.append(f"This panel may stand in for one of your raters: {outcome}.")
    else:
        sentences.append(f"This panel may not stand in for one of your raters: {outcome}.")
    return sentences


def follows_people(audit: PanelAudit) -> bool:
    """Whether the panel's mean goes with people's within prompts, beyond chance.

    A judge that says the same of all answers is close to everybody, and useless for choosing.
    """
    estimate = audit.whole.with_people
    return estimate is not None and not math.isnan(estimate.value) and estimate.low > 0


def _length_sentences(audit: PanelAudit) -> list[str]:
    """How grades go with the length of the answers."""
    estimate = audit.whole.with_length
    if math.isnan(estimate.value):
        return [f"How grades go with length is {estimate.text()}."]
    sentence = (
        f"{WHOLE_PANEL.capitalize()} correlates {estimate.text()} with the answers' length "
        f"({audit.length_unit}), within prompts"
    )
    if audit.people_with_length is not None:
        sentence += f"; people's correlates {audit.people_with_length.text()}"
    return [f"{sentence}."]


def _probe_sentences(probes: ProbeReport) -> list[str]:
    """What the probes found."""
    sentences = []
    for finding in probes.findings:
        if finding.rater:
            continue
        passed = "fails" if finding.fails else "passes"
        if not finding.effect.has_interval:
            passed = "not decided"
        sentences.append(
            f"Probe {finding.probe}, {passed}: {MEANINGS[finding.probe]} is "
            f"{finding.effect.text()} ({probes.unit})."
        )
    sentences += [f"Left out: {reason}." for reason in probes.left_out]
    if probes.missing:
        sentences.append(f"{probes.missing} measurements are missing, because calls failed.")
    return sentences
