"""The commands of `darc`: their names, their files, and how their arguments are parsed."""

import importlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from darc.cli.parser import Parser
from darc.views.terminal import bold

DESCRIPTION = "Risk-constrained decoding: pick answers that few people would be unhappy with."
HELP_FILE = Path(__file__).parent / "help.toml"

# The files of commands that are not named like them.
_FILES = {"import": "import_"}
_FILES |= dict.fromkeys(("rules", "scorers", "rewriters", "generators"), "listing")


@dataclass(frozen=True)
class Command:
    """A command, or an action of one, such as `darc study init`."""

    #: The class of its settings.
    settings: Any
    #: Does the work, given the settings.
    run: Callable[[Any], None]
    #: What is said when it is interrupted.
    interrupted: str = "nothing was written"


@cache
def help_texts() -> dict[str, dict[str, Any]]:
    """What the help says, by command."""
    return tomllib.loads(HELP_FILE.read_text(encoding="utf-8"))


def texts_of(command: str) -> dict[str, Any]:
    """What the help of a command, or of an action of it, says before and after the options."""
    return help_texts().get(command, {})


def command_groups() -> dict[str, dict[str, str]]:
    """What each command does, by what people come for."""
    return help_texts()["commands"]


def command_names() -> list[str]:
    """The names of all commands."""
    return [name for group in command_groups().values() for name in group]


def module_of(name: str) -> Any:
    """The module of a command."""
    return importlib.import_module(f"darc.cli.{_FILES.get(name, name)}")


def actions_of(name: str) -> Mapping[str, Command]:
    """The actions of a command by name; a command without actions has one, named ""."""
    module = module_of(name)
    if hasattr(module, "ACTIONS"):
        actions: Mapping[str, Command] = module.ACTIONS
        return actions
    if hasattr(module, "COMMANDS"):
        return {"": module.COMMANDS[name]}
    return {"": module.COMMAND}


def parser_of(*names: str) -> Parser:
    """Make the parser.

    Args:
        *names: The commands whose options are wanted; none means the names of all commands only.
    """
    parser = Parser(prog="darc", description=DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    about = {name: text for group in command_groups().values() for name, text in group.items()}
    for name in names:
        command_parser = commands.add_parser(name, help=about[name], **texts_of(name))
        _add_command(command_parser, name)
    if not names:
        parser.epilog = _list_of_commands()
        for name in about:
            commands.add_parser(name)
    return parser


def command_of(arguments: Any) -> Command:
    """The command, or the action of one, that the arguments name."""
    actions = actions_of(arguments.command)
    return actions[getattr(arguments, "action", "")]


def command_words(arguments: Any) -> str:
    """The command as it was written, such as "darc study init"."""
    words = ["darc", arguments.command, getattr(arguments, "action", "")]
    return " ".join(word for word in words if word)


def read_settings(words: Sequence[str]) -> Any:
    """The settings of a command line, such as ["ask", "Why?", "-k", "4"]."""
    arguments = parser_of(words[0]).parse_args(words)
    return settings_of(arguments)


def settings_of(arguments: Any) -> Any:
    """The settings of parsed arguments."""
    from darc.cli.command_settings import read_command_settings

    command = command_of(arguments)
    sections = tuple(command_names())
    return read_command_settings(command.settings, arguments, command_words(arguments), sections)


def _add_command(parser: Parser, name: str) -> None:
    """Add the options of a command, or its actions with theirs."""
    from darc.cli.options import add_options

    actions = actions_of(name)
    if "" in actions:
        add_options(parser, actions[""].settings)
        return
    action_parsers = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=Parser
    )
    for action, command in actions.items():
        texts = {**texts_of(name), **texts_of(f"{name} {action}")}
        action_parser = action_parsers.add_parser(action, **_action_texts(name, action, texts))
        add_options(action_parser, command.settings)


def _action_texts(name: str, action: str, texts: Mapping[str, Any]) -> dict[str, Any]:
    """What the help says of an action: a line in that of its command, and its own texts."""
    summary = help_texts()[f"{name} actions"][action]
    about = {"help": summary, "description": f"{summary[0].upper()}{summary[1:]}."}
    action_texts = texts_of(f"{name} {action}")
    if "epilog" in texts:
        about["epilog"] = texts["epilog"]
    return {**about, **action_texts}


def _list_of_commands() -> str:
    """The commands and what they do, under headings."""
    lines = ["`darc help COMMAND` says more about a command.", ""]
    for title, group in command_groups().items():
        lines.append(bold(f"{title}:"))
        for name, text in group.items():
            lines.append(f"  {name:<11} {text}")
        lines.append("")
    return "\n".join(lines)
