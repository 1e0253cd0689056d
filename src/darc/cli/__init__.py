"""The `darc` command."""

import argparse
import errno
import importlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence

from darc.cli.parser import Parser, add_general, texts_of
from darc.errors import DarcError, nearest
from darc.views.terminal import bold, red

# The files of commands that are not named like them.
FILES = {"import": "import_"}
FILES |= dict.fromkeys(("rules", "scorers", "rewriters", "generators"), "listing")
# What each command does, by what people come for.
GROUPS = texts_of("commands")
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
INTERRUPTED = 130
DESCRIPTION = "Risk-constrained decoding: pick answers that few people would be unhappy with."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code: 0, 1 failure, 2 input, 130 interrupt."""
    given = sys.argv[1:] if argv is None else argv
    if given and given[0] == "help":
        given = [*given[1:], "--help"]
    asked = next((each for each in given if not each.startswith("-")), None)
    if asked is not None and asked not in COMMANDS:
        print(f"darc: unknown command {asked!r}; {nearest(asked, COMMANDS)}", file=sys.stderr)
        return 2
    parser = parser_of(*([] if asked is None else [asked]))
    arguments = parser.parse_args(given)
    if arguments.version:
        from darc import __version__

        print(__version__)
        return 0
    if arguments.command is None:
        parser.print_help()
        return 0
    return guarded(arguments.run, arguments)


def parser_of(*asked: str) -> Parser:
    """The parser with the options of the commands that are asked for, or with all names."""
    parser = Parser(prog="darc", description=DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name in asked:
        module = importlib.import_module(f"darc.cli.{FILES.get(name, name)}")
        command = commands.add_parser(name, help=COMMANDS[name], **texts_of(name))
        module.add(command)
        if hasattr(module, "run"):
            command.set_defaults(run=module.run)
        add_general(command)
    if not asked:
        lines = ["darc help COMMAND says more of each.", ""]
        for title, group in GROUPS.items():
            listed = (f"  {name:<11} {about}" for name, about in group.items())
            lines += [bold(f"{title}:"), *listed, ""]
        parser.epilog = "\n".join(lines)
        for name in COMMANDS:
            commands.add_parser(name)
    return parser


def entry() -> None:
    """Run the command line as a program of its own.

    An interrupt ends it at once, whatever a model or a server is still busy with; what was
    finished is written by then.
    """
    signal.signal(signal.SIGINT, _interrupted)
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _interrupted(*_: object) -> None:
    """End what runs; a second press meanwhile changes nothing, and a third one kills."""
    signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, signal.SIG_DFL))
    raise KeyboardInterrupt


def guarded(run: Callable[[argparse.Namespace], None], arguments: argparse.Namespace) -> int:
    """Run a command, its failures told in one sentence on standard error."""
    logging.basicConfig(
        level=arguments.log_level.upper(), stream=sys.stderr, format="%(levelname)s: %(message)s"
    )
    logging.captureWarnings(True)
    try:
        if getattr(arguments, "plot", None) is not None:
            from darc.views import check_picture

            check_picture(arguments.plot)
        run(arguments)
        sys.stdout.flush()
    except DarcError as problem:
        print(f"{red('darc:')} {problem}", file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        told = getattr(arguments, "interrupted", "nothing was written")
        print(f"darc: interrupted; {told}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; closing standard output again at exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:
        # Every file that is written is named, so that a full disk without one is behind a pipe.
        unnamed = "standard output" if problem.errno == errno.ENOSPC else "a file"
        reason = problem.strerror or problem
        print(f"darc: {problem.filename or unnamed}: {reason}", file=sys.stderr)
        return 1
    return 0
