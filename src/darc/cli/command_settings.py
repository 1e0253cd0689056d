"""The settings of a command: from the command line, a settings file and the defaults."""

import argparse
from pathlib import Path
from typing import Any, TypeVar

from darc.cli.options import (
    file_keys,
    is_negation,
    option_flags,
    takes_several,
    value_types,
    values_of,
)
from darc.errors import InputError
from darc.settings.general import CommandSettings
from darc.settings.toml_file import read_section
from darc.settings.validation import validate_settings

Settings = TypeVar("Settings", bound=CommandSettings)


def read_command_settings(
    model: type[Settings],
    arguments: argparse.Namespace,
    command: str,
    sections: tuple[str, ...] = (),
) -> Settings:
    """Read the settings of a command; the command line wins over the file of --config.

    Args:
        model: The settings of the command.
        arguments: What the command line gives.
        command: The command, such as "darc train dpo"; its last word is the section of the file.
        sections: The sections that a settings file may have.

    Returns:
        The settings.

    Raises:
        InputError: If a value is not allowed, or a required one is missing.
    """
    section = command.split()[-1]
    flag_values = values_of(arguments, model)
    file = flag_values.get("config")
    file_values: dict[str, Any] = {}
    if file is not None:
        file_values = _read_file(model, file, section, sections)
    values = {**file_values, **flag_values}
    _check_required(model, values, command)

    def where(name: str) -> str:
        if name in file_values and name not in flag_values:
            return f"{file}: [{section}]"
        return ""

    return validate_settings(model, values, where)


def _read_file(
    model: type[Settings], file: Path, section: str, sections: tuple[str, ...]
) -> dict[str, Any]:
    """Read the section of a settings file, by the names of fields."""
    keys = file_keys(model)
    values: dict[str, Any] = {}
    for key, value in read_section(file, section, keys, sections).items():
        name = keys[key]
        if is_negation(key, name, model.model_fields[name]):
            values[name] = _negated(value, f"{file}: {section}.{key}")
        else:
            values[name] = _as_written(model, name, value)
    return values


def _negated(value: Any, place: str) -> bool:
    """The opposite of the truth value of a key such as no_guard.

    Raises:
        InputError: If it is not a truth value; the message begins with the place.
    """
    if not isinstance(value, bool):
        raise InputError(f"{place} is {value!r}", "should be true or false")
    return not value


def _as_written(model: type[Settings], name: str, value: Any) -> Any:
    """A value of a file as the command line would give it."""
    field = model.model_fields[name]
    if takes_several(field) and not isinstance(value, list):
        value = [value]
    # Numbers are also allowed where a text such as "0.5" or "medium" is expected.
    if str not in value_types(field.annotation):
        return value
    if isinstance(value, list):
        return [_number_as_text(item) for item in value]
    return _number_as_text(value)


def _number_as_text(value: Any) -> Any:
    """A number as text; anything else as it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _check_required(model: type[Settings], values: dict[str, Any], command: str) -> None:
    """Refuse settings without a value that must be given."""
    for name, field in model.model_fields.items():
        if field.is_required() and name not in values:
            flag = option_flags(name, field)[-1]
            raise InputError(f"{flag} is missing", f"see {command} --help")
