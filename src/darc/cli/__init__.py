"""The `darc` command."""

import errno
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from darc.cli.commands import (
    Command,
    command_names,
    command_of,
    parser_of,
    settings_of,
)
from darc.errors import DarcError, nearest
from darc.views.terminal import protect_terminal, red

INTERRUPTED = 130
TERMINATED = 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The words after `darc`; by default those of this process.

    Returns:
        The exit code: 0, 1 after a failure, 2 for wrong input, 130 after an interrupt,
            143 after SIGTERM.
    """
    if argv is None:
        argv = sys.argv[1:]
    words = list(argv)
    if words and words[0] == "help":
        words = [*words[1:], "--help"]
    name = _command_name(words)
    if name is None:
        parser = parser_of()
    elif name in command_names():
        parser = parser_of(name)
    else:
        hint = nearest(name, command_names())
        print(f"darc: unknown command {name!r}; {hint}", file=sys.stderr)
        return 2
    arguments = parser.parse_args(words)
    if arguments.version:
        from darc import __version__

        print(__version__)
        return 0
    if arguments.command is None:
        parser.print_help()
        return 0
    return _run(arguments)


def entry() -> None:
    """Run the command line as a program of its own.

    An interrupt ends it at once, whatever a model or a server is still busy with; what was
    finished is written by then.
    """
    protect_terminal()
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = main()
    except _Terminated:
        code = TERMINATED
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code in (INTERRUPTED, TERMINATED):
        sys.stdout.flush()
        sys.stderr.flush()
        _release_semaphores()
        if code == TERMINATED:
            # Whoever sent the signal sees that the process ended by it.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        os._exit(code)
    sys.exit(code)


def _command_name(words: Sequence[str]) -> str | None:
    """The first word that is not an option."""
    for word in words:
        if not word.startswith("-"):
            return word
    return None


def _interrupted(*_: object) -> None:
    """End what runs; a second press meanwhile changes nothing, and a third one kills."""
    signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, signal.SIG_DFL))
    raise KeyboardInterrupt


class _Terminated(KeyboardInterrupt):
    """The process was told to end by SIGTERM."""


def _terminated(*_: object) -> None:
    """End what runs as an interrupt does."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Terminated


def _release_semaphores() -> None:
    """Release what worker processes shared with this one, of which nobody is warned then."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util._run_finalizers(0)


def _run(arguments: Any) -> int:
    """Run a command, and say its failures in one sentence on standard error."""
    command = command_of(arguments)
    try:
        _run_command(command, settings_of(arguments))
    except DarcError as problem:
        print(f"{red('darc:')} {str(problem).replace(chr(13), '')}", file=sys.stderr)
        return problem.exit_code
    except _Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        print(f"darc: interrupted; {command.interrupted}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; closing standard output again at exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:
        file = problem.filename or "a file"
        if problem.filename is None and problem.errno == errno.ENOSPC:
            # Errors about files name them; a full disk without a name is that of a pipe.
            file = "standard output"
        reason = problem.strerror or problem
        print(f"darc: {file}: {reason}", file=sys.stderr)
        return 1
    return 0


def _run_command(command: Command, settings: Any) -> None:
    """Set up the log, check what would fail at the end, and run."""
    level = settings.log_level.upper()
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s: %(message)s")
    logging.captureWarnings(True)
    if getattr(settings, "plot", None) is not None:
        from darc.views import check_picture

        check_picture(settings.plot)
    command.run(settings)
    sys.stdout.flush()
