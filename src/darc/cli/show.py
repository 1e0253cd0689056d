"""`darc show`: how one prompt of a run was decided."""

from darc.cli.choosing import note_wording, rule_parameters, standards_of
from darc.cli.commands import Command
from darc.cli.outcome_output import write_outcome
from darc.cli.sources import read_calibrations
from darc.settings.show import ShowSettings


def run(settings: ShowSettings) -> None:
    """Read the outcome, decide again if asked to, and print it."""
    from darc.runs.folder import RunFolder
    from darc.runs.new_method import NewMethod
    from darc.runs.outcomes import read_outcome

    folder = RunFolder(settings.folder)
    new_method = NewMethod(
        rule=settings.rule,
        parameters=rule_parameters(settings.caution),
        beta=settings.beta,
        gamma=settings.gamma,
        calibrations=read_calibrations(settings.calibration),
        standards=standards_of(settings),
    )
    outcome = read_outcome(folder, settings.prompt, new_method.method(folder))
    if settings.caution is not None:
        note_wording(outcome.scores.sample)
    write_outcome(outcome, settings)


COMMAND = Command(ShowSettings, run)
