"""`darc completion`: a script that completes commands and options in a shell."""

import argparse
import functools
from typing import Any

from darc.cli.parser import Parser, add_general

SHELLS = ("bash", "zsh", "fish", "tcsh")
EPILOG = """\
examples:
  darc completion bash > ~/.local/share/bash-completion/completions/darc
  darc completion zsh > ~/.zfunc/_darc   # with ~/.zfunc in fpath, before compinit
  darc completion fish > ~/.config/fish/completions/darc.fish"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, description="Print a completion script for a shell.", epilog=EPILOG
    )
    parser.add_argument("shell", choices=SHELLS)
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    import shtab

    print(shtab.complete(whole_parser(), arguments.shell))


def whole_parser() -> argparse.ArgumentParser:
    """The parser with every command and its options."""
    from darc.cli import COMMANDS, add_command

    parser = Parser(prog="darc")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", parser_class=Parser)
    plain = commands.add_parser
    for name, (_, words) in COMMANDS.items():
        # Only commands that are listed with a help text are completed.
        commands.add_parser = functools.partial(plain, help=words)  # type: ignore[method-assign]
        add_command(commands, name)
    return parser
