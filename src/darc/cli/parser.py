"""What commands share: how arguments are parsed, and the options that several have."""

import argparse
import tomllib
from argparse import Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from darc.cli.output import say
from darc.errors import InputError

if TYPE_CHECKING:
    from darc.decide.model.calibration_file import Calibrations
    from darc.ratings.ratings import Ratings
    from darc.settings.limits import ArrivalSettings

DATA = Path(__file__).parent
LEVELS = ("debug", "info", "warning", "error")
RULE = "NAME[:KEY=VALUE,...]"


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Help that says the default of every option which does not say it itself."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
        silent = default in ("", argparse.SUPPRESS) or not action.option_strings
        if not plain or silent or "default: " in text:
            return text
        told = f"{default:g}" if isinstance(default, float) else default
        return f"{text} (default: {told})".strip()


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence, and which reads defaults from --config."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", HelpText)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)

    def add_actions(self, dest: str = "action") -> Any:
        """What the actions of a command are added to, of which one is to be named."""
        return self.add_subparsers(
            dest=dest, metavar=dest.upper(), required=True, parser_class=Parser
        )

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
        from darc.cli import COMMANDS
        from darc.settings.toml_file import read_section

        options = (action for action in self._actions if action.option_strings)
        actions = {each.dest: each for each in options if each.dest not in ("help", "config")}
        section = self.prog.split()[-1]
        try:
            for name, value in read_section(path, section, actions, COMMANDS).items():
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


@cache
def _texts() -> dict[str, dict[str, Any]]:
    return tomllib.loads((DATA / "help.toml").read_text(encoding="utf-8"))


def texts_of(command: str) -> dict[str, Any]:
    """What the help of a command, or of an action of it, says before and after the options."""
    return _texts().get(command, {})


def add_general(parser: Parser) -> None:
    """Options of every command, or of each of its actions."""
    parsers = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parsers = list(action.choices.values())
    for each in parsers:
        each.add_argument("--config", type=Path, metavar="FILE", help="TOML file with settings")
        each.add_argument(
            "--log-level", default="warning", choices=LEVELS, help="what to log on standard error"
        )


def add_columns(parser: Any, system: bool = True) -> None:
    """Options of every command that reads ratings: what columns are called, who wrote what."""
    parser.add_argument(
        "--column",
        action="append",
        metavar="NAME=THEIRS",
        help="what the file calls a column, such as prompt_id=question or system=model",
    )
    if system:
        parser.add_argument(
            "--system",
            default="auto",
            choices=("auto", "none"),
            help="what wrote a candidate, for the rule auto: its column system, else its id where "
            "that comes back over the prompts; or none",
        )


def columns_of(arguments: Namespace) -> dict[str, str]:
    """What the file calls its columns."""
    from darc.registry import split_pairs

    return split_pairs(arguments.column or (), "--column")


def load_input(arguments: Namespace) -> "Ratings":
    """The ratings or the run that a command is given."""
    from darc.analysis.reading import load_ratings

    return load_ratings(arguments.source, None, columns_of(arguments), arguments.system)


def check_least(arguments: Namespace, **least: int) -> None:
    """Refuse numbers that are too small."""
    for name, number in least.items():
        if getattr(arguments, name) < number:
            raise InputError(f"--{name} is {getattr(arguments, name)}", f"give {number} or more")


def add_calibration(parser: Any) -> None:
    """Add what the rule auto has learnt before."""
    parser.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="calibration file for the default rule, written by darc calibrate",
    )


def calibrations_of(arguments: Namespace) -> "Calibrations | None":
    """The calibrations of the file that was named."""
    return read_calibrations(arguments.calibration)


def read_calibrations(path: Path | None) -> "Calibrations | None":
    """The calibrations of a file, after saying what is to be known about the file."""
    from darc.decide.model.calibration_file import as_calibrations

    calibrations = as_calibrations(path)
    if calibrations is not None:
        say_notes(calibrations)
    return calibrations


def say_notes(calibrations: "Calibrations") -> None:
    """Say on standard error what is to be known about a file of calibrations."""
    for note in calibrations.notes:
        say(note)


def add_arrival(parser: Any) -> None:
    """Options of every service: names, whom it counts, and limits before anyone is known."""
    from darc.cli.options import add_options
    from darc.settings.limits import ArrivalSettings

    parser.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS[/BITS]",
        help="count clients by the address that this reverse proxy forwards; may be repeated",
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name under which it is asked for, such as a reverse proxy's; repeatable",
    )
    add_options(parser, ArrivalSettings)


def arrival_of(arguments: Namespace) -> "ArrivalSettings":
    """The limits that the options stand for."""
    from darc.cli.options import options_of
    from darc.settings.limits import ArrivalSettings
    from darc.settings.validation import validate_settings

    return validate_settings(ArrivalSettings, options_of(arguments, ArrivalSettings))
