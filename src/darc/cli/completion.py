"""`darc completion`: a script that completes commands and options in a shell."""

from argparse import Namespace

from darc.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"))


def run(arguments: Namespace) -> None:
    """Print the script."""
    import shtab

    from darc.cli import COMMANDS, parser_of

    print(shtab.complete(parser_of(*COMMANDS), arguments.shell))
