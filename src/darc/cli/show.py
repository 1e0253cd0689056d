"""`darc show`: how one prompt of a run was decided."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from darc.cli.choosing import note_wording, rule_parameters, standards_of
from darc.cli.commands import Command
from darc.cli.outcome_output import write_outcome
from darc.cli.sources import read_calibrations
from darc.settings.show import ShowSettings

if TYPE_CHECKING:
    from darc.decide.method import Method
    from darc.decide.standards import Standards


def run(settings: ShowSettings) -> None:
    """Read the outcome, decide again if asked to, and print it."""
    from darc.runs.folder import RunFolder
    from darc.runs.manifest import method_of
    from darc.runs.outcomes import read_outcome

    folder = RunFolder(settings.folder)
    run_method = method_of(folder)
    standards = _changed_standards(run_method.standards, settings)
    method = method_of(folder, _changed_method(run_method, settings), standards)
    outcome = read_outcome(folder, settings.prompt, method)
    if settings.caution is not None:
        note_wording(outcome.scores.sample)
    write_outcome(outcome, settings)


def _changed_method(run_method: "Method", settings: ShowSettings) -> "Method":
    """The method of the run with what the options change."""
    from darc.decide.method import Method
    from darc.decide.registry import rules

    rule = settings.rule or run_method.text
    parameters = rule_parameters(settings.caution)
    takes_caution = rules.get(rule.partition(":")[0].strip()).has_parameter("caution")
    if not parameters and run_method.caution is not None and takes_caution:
        parameters = {"caution": run_method.caution}
    beta = settings.beta
    if beta is None:
        beta = run_method.beta
    gamma = settings.gamma
    if gamma is None:
        gamma = run_method.gamma
    calibrations = read_calibrations(settings.calibration)
    return Method.parse(rule, parameters, beta=beta, gamma=gamma, calibrations=calibrations)


def _changed_standards(standards: "Standards", settings: ShowSettings) -> "Standards":
    """The standards of the run with what the options change."""
    changes = asdict(standards_of(settings))
    return replace(
        standards, **{name: value for name, value in changes.items() if value is not None}
    )


COMMAND = Command(ShowSettings, run)
