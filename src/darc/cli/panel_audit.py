"""`darc diagnose --panel`: whether a panel may stand in for people."""

from dataclasses import asdict, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.output import counting, print_json, print_table, say
from darc.cli.sources import load_source
from darc.errors import InputError
from darc.settings.diagnose import DiagnoseSettings

if TYPE_CHECKING:
    from darc.analysis.panel_audit.audit import PanelAudit, RaterAudit
    from darc.analysis.panel_audit.drift import Drift
    from darc.analysis.panel_audit.estimate import Estimate
    from darc.analysis.panel_audit.grades import PanelAndPeople
    from darc.analysis.panel_audit.probes import ProbeReport
    from darc.ratings.ratings import Ratings


def run_panel_audit(panel: Path, settings: DiagnoseSettings) -> None:
    """Read the grades, audit the panel, write and print.

    Args:
        panel: Where the panel's grades are.
        settings: The options of the command.
    """
    from darc.analysis.panel_audit.audit import audit_panel, verdict
    from darc.analysis.panel_audit.grades import panel_and_people
    from darc.analysis.panel_audit.repeats import repeats_of

    if settings.plot is not None:
        raise InputError("an audit of a panel has no picture", "leave out --plot")
    grades = load_source(panel, settings, settings.texts)
    people = None
    if settings.source is not None:
        people = load_source(settings.source, settings)
    source = panel_and_people(grades, people)
    audit = audit_panel(source, settings.epsilon, settings.seed)
    audit = replace(audit, repeats=tuple(repeats_of(panel, grades, settings.seed)))
    if settings.against is not None:
        audit = replace(audit, drift=_drift(settings.against, grades, source, settings))
    if settings.probe:
        audit = replace(audit, probes=_probes(grades, settings))
    sentences = verdict(audit)
    _write_tables(audit, settings)
    if settings.as_json:
        print_json(_json_fields(audit, sentences))
    else:
        _print(audit, sentences)


def _drift(
    against: Path, grades: "Ratings", source: "PanelAndPeople", settings: DiagnoseSettings
) -> "Drift":
    """How far the panel has moved since an earlier run or calibration."""
    from darc.analysis.panel_audit.drift import drift_against_calibration, drift_against_run
    from darc.analysis.panel_audit.grades import panel_grades

    if against.suffix == ".json":
        from darc.decide.model.calibration_file import Calibrations

        calibrations = Calibrations.load(against)
        calibration = next(iter(calibrations.by_scorer.values()))
        return drift_against_calibration(grades, calibration, str(against))
    earlier = panel_grades(load_source(against, settings))
    named = replace(earlier, name=str(against))
    return drift_against_run(source.panel, named, source.people, settings.seed)


def _probes(grades: "Ratings", settings: DiagnoseSettings) -> "ProbeReport":
    """Ask the live panel, after saying how many calls that takes."""
    from darc.analysis.panel_audit.probes import calls_needed, probe_cases, run_probes
    from darc.parts.scorers.panel_argument import parse_panel

    panel = parse_panel(settings.probe)
    if settings.probe_mode is not None:
        panel = replace(panel, mode=settings.probe_mode)
    if panel.needs_model:
        raise InputError(
            "the panel to probe has no model to judge by", "write --probe judge:MODEL@URL"
        )
    cases = probe_cases(grades, settings.probe_prompts, settings.seed)
    calls = calls_needed(panel, len(cases))
    say(
        f"probing {len(panel)} raters with {len(cases)} prompts: {calls} calls, and at most one "
        "more for each unreadable reply ..."
    )
    with counting(len(panel) * len(cases), "raters and prompts probed") as report:
        return run_probes(panel, cases, report=report)


def _write_tables(audit: "PanelAudit", settings: DiagnoseSettings) -> None:
    """Write every table, if a folder is wanted."""
    from darc.analysis.frame import write_frames
    from darc.analysis.panel_audit.tables import audit_tables

    if settings.out is None:
        return
    paths = write_frames(audit_tables(audit), settings.out)
    say(f"wrote {len(paths)} files to {settings.out}")


def _json_fields(audit: "PanelAudit", sentences: list[str]) -> dict[str, Any]:
    """Everything that was found."""
    from darc.analysis.panel_audit.audit import follows_people
    from darc.analysis.panel_audit.tables import audit_tables

    test = audit.whole.annotator_test
    may_stand_in = None
    winning_rate = None
    if test is not None and not test.reason:
        may_stand_in = test.passes and follows_people(audit)
        winning_rate = test.winning_rate
    effective = audit.effective
    probes = None
    if audit.probes is not None:
        probes = {
            "prompts": audit.probes.prompts,
            "calls": audit.probes.calls,
            "missing": audit.probes.missing,
            "unit": audit.probes.unit,
            "failed": [finding.probe for finding in audit.probes.failed],
            "left_out": audit.probes.left_out,
        }
    drift = None
    if audit.drift is not None:
        drift = {"against": audit.drift.against, "moved": audit.drift.moved}
    return {
        "name": audit.name,
        "sentences": sentences,
        "prompts": audit.prompts,
        "answers": audit.answers,
        "rated_answers": audit.rated_answers,
        "raters": effective.raters,
        "effective_number": asdict(effective.number),
        "correlation_of_errors": asdict(effective.correlation),
        "against_people": effective.against_people,
        "basis": effective.basis,
        "may_stand_in": may_stand_in,
        "winning_rate": winning_rate,
        "epsilon": None if test is None else test.epsilon,
        "probes": probes,
        "drift": drift,
        "tables": {frame.name: frame.records() for frame in audit_tables(audit)},
    }


def _print(audit: "PanelAudit", sentences: list[str]) -> None:
    """Print the sentences, and then a table of raters, people, repeats and drift."""
    print("\n".join(sentences))
    print()
    _print_raters(audit)
    _print_people(audit)
    if audit.repeats:
        print()
        print_table(
            ["repeats", "reliability of one grade", "noise"],
            [[row.rater, row.reliability.text(), row.noise] for row in audit.repeats],
        )
    if audit.drift is not None:
        print()
        rows: list[list[object]] = []
        for rater in audit.drift.raters:
            mark = " *" if rater.has_moved else ""
            rows.append([rater.rater, rater.change.text(3) + mark])
        print_table(["drift", "grades now less earlier"], rows)
        print("*: beyond chance; the 95 % intervals hold for all raters together")
    if audit.probes is not None:
        _print_probes(audit.probes)


def _print_raters(audit: "PanelAudit") -> None:
    """Print the correlations of each rater."""
    has_people = audit.whole.with_people is not None
    header = ["rater", "grades", "with the others", f"with length ({audit.length_unit})"]
    if has_people:
        header += ["with people", "winning rate"]
    rows: list[list[object]] = []
    for rater in (audit.whole, *audit.raters):
        row: list[object] = [
            rater.rater,
            rater.grades,
            _short(rater.with_others),
            _short(rater.with_length),
        ]
        if has_people:
            row += [_short(rater.with_people), _winning_rate(rater)]
        rows.append(row)
    print_table(header, rows)
    print("correlations within prompts, 95 % intervals over prompts, each by itself")


def _print_people(audit: "PanelAudit") -> None:
    """Print the panel's mean against each person."""
    test = audit.whole.annotator_test
    if test is None or test.reason:
        return
    print()
    rows: list[list[object]] = [
        [
            person.person,
            person.answers,
            person.wins.text(),
            f"{person.person_wins:.2f}",
            f"{person.p_value:.4f}",
            "yes" if person.is_won else "no",
        ]
        for person in test.people
    ]
    print_table(["person", "answers", "panel closer", "person closer", "p", "won over"], rows)
    print(
        f"epsilon {test.epsilon:g}; Benjamini-Yekutieli at 0.05; the winning rate has no interval: "
        "it is the outcome of tests on these people"
    )


def _print_probes(probes: "ProbeReport") -> None:
    """Print the raters that fail a probe by themselves."""
    rows: list[list[object]] = [
        [finding.probe, finding.rater, finding.effect.text()]
        for finding in probes.findings
        if finding.rater and finding.fails
    ]
    if rows:
        print()
        print_table(["probe", "rater that fails it", "effect"], rows)


def _winning_rate(rater: "RaterAudit") -> str:
    """The share of people whom a rater wins over."""
    test = rater.annotator_test
    if test is None or test.reason:
        return "-"
    return f"{test.winning_rate:.2f}"


def _short(estimate: "Estimate | None") -> str:
    """An estimate in a cell."""
    if estimate is None or isnan(estimate.value):
        return "-"
    return estimate.text().partition(" (no interval")[0]
