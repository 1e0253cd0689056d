"""The `darc` command."""

import argparse
import errno
import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence

from darc.cli.parser import Parser
from darc.errors import DarcError

# The file that each command is in.
COMMANDS = {
    "ask": "ask",
    "run": "run",
    "show": "show",
    "export": "export",
    "select": "select",
    "serve": "serve",
    "check": "check",
    "simulate": "simulate",
    "eval": "eval",
    "import": "import_",
    "compare": "compare",
    "diagnose": "diagnose",
    "tune": "tune",
    "calibrate": "calibrate",
    "pairs": "pairs",
    "train": "train",
    "study": "study",
    "rules": "rules",
    "scorers": "listing",
    "rewriters": "listing",
    "generators": "listing",
    "models": "models",
    "cache": "cache",
}
INTERRUPTED = 130
DESCRIPTION = "Risk-constrained decoding: pick answers that few people would be unhappy with."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code: 0, 1 failure, 2 input, 130 interrupt."""
    parser = Parser(prog="darc", description=DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, module in COMMANDS.items():
        importlib.import_module(f"darc.cli.{module}").add(commands, name)
    arguments = parser.parse_args(argv)
    if arguments.version:
        from darc import __version__

        print(__version__)
        return 0
    if arguments.command is None:
        parser.print_help()
        return 0
    return guarded(arguments.run, arguments)


def entry() -> None:
    """Run the command line as a program of its own.

    An interrupt ends it at once, whatever a model or a server is still busy with; what was
    finished is written by then.
    """
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def guarded(run: Callable[[argparse.Namespace], None], arguments: argparse.Namespace) -> int:
    """Run a command, its failures told in one sentence on standard error."""
    logging.basicConfig(
        level=arguments.log_level.upper(), stream=sys.stderr, format="%(levelname)s: %(message)s"
    )
    logging.captureWarnings(True)
    try:
        run(arguments)
        sys.stdout.flush()
    except DarcError as problem:
        print(f"darc: {problem}", file=sys.stderr)
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
