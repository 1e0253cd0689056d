"""`darc export`: a run's answers or scores, for other tools."""

from darc.cli.commands import Command
from darc.cli.output import say
from darc.settings.export import ExportSettings

_ENDINGS = {"alpaca": ".json", "mt-bench": ".jsonl", "tidy": ".csv", "parquet": ".parquet"}
# Formats with every score, for which a lazy run has to be completed first.
_COMPLETE_FORMATS = ("tidy", "parquet")


def run(settings: ExportSettings) -> None:
    """Write the file, and print its path."""
    from darc.runs.export import export_run
    from darc.runs.folder import RunFolder, check_complete, check_finished

    folder = RunFolder(settings.folder)
    if settings.format in _COMPLETE_FORMATS:
        check_complete(folder)
    else:
        check_finished(folder)
    path = settings.out
    if path is None:
        place = settings.folder.resolve()
        path = place.parent / f"{place.name}.{settings.format}{_ENDINGS[settings.format]}"
    count = export_run(folder, settings.format, path, settings.name)
    print(path)
    say(f"{count} entries")


COMMAND = Command(ExportSettings, run)
