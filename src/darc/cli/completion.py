"""`darc completion`: a script that completes commands and options in a shell."""

from darc.cli.commands import Command, command_names, parser_of
from darc.settings.lists import CompletionSettings


def run(settings: CompletionSettings) -> None:
    """Print the script."""
    import shtab

    print(shtab.complete(parser_of(*command_names()), settings.shell))


COMMAND = Command(CompletionSettings, run)
