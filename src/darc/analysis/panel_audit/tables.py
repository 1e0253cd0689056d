"""The audit of a panel as tidy tables."""

from darc.analysis.frame import Frame, Record
from darc.analysis.panel_audit.alternative_annotator import AnnotatorTest, PersonOutcome
from darc.analysis.panel_audit.audit import PanelAudit, RaterAudit
from darc.analysis.panel_audit.estimate import Estimate
from darc.analysis.panel_audit.probes import MEANINGS


def audit_tables(audit: PanelAudit) -> list[Frame]:
    """The numbers, the raters, the people, repeats, drift and probes; empty ones are left out."""
    tables = [
        Frame.of("panel", "The panel", _number_rows(audit), audit.effective.basis),
        Frame.of(
            "panel_raters",
            "The raters of the panel",
            [_rater_row(rater) for rater in (audit.whole, *audit.raters)],
            "Correlations within prompts, with 95 % intervals over prompts.",
        ),
        Frame.of(
            "panel_people",
            "The panel against each person",
            _people_rows(audit),
            "Alternative-annotator test; the other people are the standard.",
        ),
        Frame.of("panel_repeats", "Agreement on repeats", _repeat_rows(audit)),
        Frame.of("panel_drift", "Drift of the raters", _drift_rows(audit)),
        Frame.of("panel_probes", "Probes", _probe_rows(audit)),
    ]
    return [table for table in tables if len(table)]


def estimate_fields(name: str, estimate: Estimate | None) -> Record:
    """The columns of an estimate."""
    if estimate is None:
        estimate = Estimate(float("nan"))
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _number_rows(audit: PanelAudit) -> list[Record]:
    effective = audit.effective
    estimates = {
        "effective number of raters": effective.number,
        "mean correlation of errors": effective.correlation,
    }
    if effective.least is not None:
        estimates["effective number, if all that raters share is error"] = effective.least
    if audit.people_with_length is not None:
        estimates["people's correlation with length"] = audit.people_with_length
    if audit.drift is not None and audit.drift.agreement is not None:
        estimates["change of the correlation with people"] = audit.drift.agreement
    return [
        {"what": what, **estimate_fields("value", estimate), "reason": estimate.reason}
        for what, estimate in estimates.items()
    ]


def _rater_row(rater: RaterAudit) -> Record:
    test = rater.annotator_test
    row: Record = {"rater": rater.rater, "grades": rater.grades}
    row |= estimate_fields("with_others", rater.with_others)
    row |= estimate_fields("with_people", rater.with_people)
    row |= estimate_fields("with_length", rater.with_length)
    row["winning_rate"] = float("nan") if test is None else test.winning_rate
    row |= estimate_fields("advantage", None if test is None else test.advantage)
    return row


def _people_rows(audit: PanelAudit) -> list[Record]:
    rows: list[Record] = []
    for rater in (audit.whole, *audit.raters):
        test = rater.annotator_test
        if test is None:
            continue
        rows += [_person_row(test, person) for person in test.people]
    return rows


def _person_row(test: AnnotatorTest, person: PersonOutcome) -> Record:
    return {
        "judge": test.judge,
        "person": person.person,
        "answers": person.answers,
        **estimate_fields("judge_wins", person.wins),
        "person_wins": person.person_wins,
        "p": person.p_value,
        "epsilon": test.epsilon,
        "won": int(person.is_won),
    }


def _repeat_rows(audit: PanelAudit) -> list[Record]:
    return [
        {
            "rater": agreement.rater,
            **estimate_fields("reliability", agreement.reliability),
            "noise": agreement.noise,
            "reason": agreement.reliability.reason,
        }
        for agreement in audit.repeats
    ]


def _drift_rows(audit: PanelAudit) -> list[Record]:
    if audit.drift is None:
        return []
    return [
        {
            "against": audit.drift.against,
            "rater": rater.rater,
            **estimate_fields("change", rater.change),
            "moved": int(rater.has_moved),
        }
        for rater in audit.drift.raters
    ]


def _probe_rows(audit: PanelAudit) -> list[Record]:
    if audit.probes is None:
        return []
    return [
        {
            "probe": finding.probe,
            "rater": finding.rater or "all",
            **estimate_fields("effect", finding.effect),
            "fails": int(finding.fails),
            "meaning": MEANINGS[finding.probe],
        }
        for finding in audit.probes.findings
    ]
