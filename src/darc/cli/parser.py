"""What all commands share: argument parsing, and progress on standard error."""

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from darc.errors import InputError

if TYPE_CHECKING:
    from darc.engine.deciding import Calibrations
    from darc.web.server import Arrival

LEVELS = ("debug", "info", "warning", "error")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, and which reads defaults from --config."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one sentence and exit with 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse with the settings of --config as defaults, so that the command line wins."""
        if any(action.dest == "config" for action in self._actions):
            early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
            early.add_argument("--config", type=Path)
            path = early.parse_known_args(args)[0].config
            if path is not None:
                self._configure(path)
        found, left = super().parse_known_args(args, namespace)
        if left and " " in self.prog:
            # Said here, since the parser of all commands knows none of their options.
            known = [name for action in self._actions for name in action.option_strings]
            close = get_close_matches(left[0].split("=")[0], known, 1, 0.7)
            perhaps = f"; perhaps {close[0]}" if close else ""
            self.error(f"unrecognized arguments: {' '.join(left)}{perhaps}")
        return found, left

    def _configure(self, path: Path) -> None:
        actions = {action.dest: action for action in self._actions if action.option_strings}
        for name in ("help", "config"):
            actions.pop(name, None)
        from darc.cli import COMMANDS
        from darc.config import read_settings

        section = self.prog.split()[-1]
        try:
            settings = read_settings(path, section, actions, COMMANDS)
            for name, value in settings.items():
                actions[name].default = self._converted(path, section, actions[name], value)
                actions[name].required = False
        except InputError as problem:
            self.exit(2, f"darc: {problem}\n")

    def _converted(self, path: Path, section: str, action: argparse.Action, value: Any) -> Any:
        """A setting as its option would have it."""
        if isinstance(value, bool) and action.nargs == 0:
            return value
        several = isinstance(action.nargs, int) or action.nargs in ("+", "*")
        many = several or isinstance(action, argparse._AppendAction)
        parts = value if isinstance(value, list) and many else [value]
        try:
            if action.nargs == 0 or any(isinstance(part, dict | list) for part in parts):
                raise ValueError("that is not a value of this option")
            made = [self._get_value(action, str(part)) for part in parts]
            for part in made:
                self._check_value(action, part)
        except (argparse.ArgumentError, ValueError) as problem:
            raise InputError(
                f"{path}: {section}.{action.dest}: {getattr(problem, 'message', problem)}",
                f"see {self.prog} --help",
            ) from None
        return made if many else made[0]


def add_general(parser: argparse.ArgumentParser) -> None:
    """Options of every command."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML file with settings")
    parser.add_argument(
        "--log-level", default="warning", choices=LEVELS, help="what to log on standard error"
    )


def add_columns(parser: Any) -> None:
    """Options of every command that reads ratings: what columns are called, who wrote what."""
    parser.add_argument(
        "--column",
        action="append",
        metavar="NAME=THEIRS",
        help="what the file calls a column, such as prompt_id=question or system=model",
    )
    parser.add_argument(
        "--system",
        default="auto",
        choices=("auto", "none"),
        help="what wrote a candidate, for the rule auto: its column system, else its id where that "
        "comes back over the prompts; or none (default: auto)",
    )


def columns_of(arguments: argparse.Namespace) -> dict[str, str]:
    """What the file calls its columns."""
    from darc.registry import split_pairs

    pairs = split_pairs(arguments.column or (), "--column")
    return {name: str(theirs) for name, theirs in pairs.items()}


def add_calibration(parser: Any) -> None:
    """Add what the rule auto has learnt before."""
    parser.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="what the rule auto goes by, made by darc calibrate",
    )


def calibrations_of(arguments: argparse.Namespace) -> "Calibrations | None":
    """The calibrations of the file that was named."""
    from darc.engine.deciding import as_calibrations

    return as_calibrations(arguments.calibration)


def add_arrival(parser: Any) -> None:
    """Options of every service: its names, and the limits that hold before anyone is known."""
    parser.add_argument(
        "--allowed-host",
        action="append",
        metavar="NAME",
        help="a further name under which it is asked for, such as a reverse proxy's; repeatable",
    )
    from darc.config import add_options
    from darc.web.server import Arrival

    add_options(parser, Arrival, *Arrival.model_fields)


def arrival_of(arguments: argparse.Namespace) -> "Arrival":
    """The limits that the options stand for."""
    from darc.config import made, options_of
    from darc.web.server import Arrival

    return made(Arrival, options_of(arguments, Arrival))


def add_trusted_proxy(parser: Any) -> None:
    """The option of services that count clients by address."""
    parser.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS[/BITS]",
        help="count clients by the address that this reverse proxy forwards; may be repeated",
    )


@contextmanager
def progress(
    text: str, unit: str, scale: bool = False
) -> Iterator[Callable[[int, int | None], None]]:
    """A function report(done, total) that draws a bar on a terminal, after two seconds."""
    from tqdm import tqdm

    with tqdm(desc=text, unit=unit, unit_scale=scale, delay=2, disable=None, leave=False) as bar:

        def report(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield report


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A function report(done, total) that counts, as "12 of 16 answers written, 31 s".

    On a terminal the line follows the clock, for the first may take as long as all of them;
    elsewhere there is a line for every quarter.
    """
    started, over, live = time.monotonic(), threading.Event(), sys.stderr.isatty()
    state = {"done": 0, "total": total, "told": 0}

    def line() -> str:
        seconds = time.monotonic() - started
        return f"{state['done']} of {state['total']} {what}, {seconds:.0f} s"

    def follow() -> None:
        while not over.wait(1.0):
            print(f"\r{line()}", end="", file=sys.stderr, flush=True)

    def report(done: int, total: int | None) -> None:
        state["done"], state["total"] = done, total or state["total"]
        if not live and (done >= state["total"] or done - state["told"] >= state["total"] / 4):
            state["told"] = done
            print(line(), file=sys.stderr, flush=True)

    follower = threading.Thread(target=follow, daemon=True)
    if live:
        follower.start()
    try:
        yield report
    finally:
        over.set()
        if live:
            follower.join()
            print(f"\r{line()}", file=sys.stderr, flush=True)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A function report(stage, done, total) that draws one bar for all stages of many prompts."""
    from tqdm import tqdm

    with tqdm(unit=" prompts", delay=2, disable=None, leave=False) as bar:

        def report(stage: str, done: int, total: int) -> None:
            bar.total = total
            bar.set_description(stage, refresh=False)
            bar.update(done - bar.n)
            bar.refresh()

        yield report
