"""Reading settings from TOML files."""

import difflib
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from darc.errors import InputError, nearest


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        InputError: If the file cannot be read or is not valid TOML.
    """
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as problem:
        raise InputError(f"{path} cannot be read ({problem.strerror})", "check the path") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not valid TOML: {problem}", "correct the file") from None


def read_section(
    path: Path, section: str, known: Iterable[str], sections: Collection[str] = ()
) -> dict[str, Any]:
    """Read the settings of one section of a TOML file, and those above all sections.

    Args:
        path: The file.
        section: The name of the section.
        known: The keys that the section may have.
        sections: The sections that any file may have; a misspelt one is refused.

    Returns:
        The values by key; those of the section win over those above all sections.

    Raises:
        InputError: If a key is unknown, or a section is misspelt or not a section.
    """
    data = read_toml(path)
    names = sorted(known)
    values = data.pop(section, {})
    if not isinstance(values, dict):
        raise InputError(f"{path}: {section} is not a section", f"write [{section}]")
    shared_values = {key: value for key, value in data.items() if not isinstance(value, dict)}
    for key in data.keys() - shared_values.keys():
        _check_section(path, key, sections)
    _check_keys(f"{path}: ", shared_values, names)
    _check_keys(f"{path}: {section}.", values, names)
    return {**shared_values, **values}


def _check_section(path: Path, name: str, sections: Collection[str]) -> None:
    """Refuse a section whose name is nearly one that is known."""
    if name in sections:
        return
    close = difflib.get_close_matches(name, sorted(sections), 1)
    if close:
        raise InputError(f"{path}: [{name}] is not a command", f"did you mean [{close[0]}]?")


def _check_keys(prefix: str, keys: Iterable[str], names: Collection[str]) -> None:
    """Refuse keys that are not known."""
    for key in keys:
        if key not in names:
            raise InputError(f"{prefix}{key} is unknown", nearest(key, names))
