"""Settings in a TOML file, one section a command."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from darc.errors import InputError, nearest
from darc.files import append_private


def read_settings(path: Path, section: str, known: Iterable[str]) -> dict[str, Any]:
    """The settings of one section of a TOML file; an unknown key is refused by its path."""
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except OSError as problem:
        raise InputError(f"{path} cannot be read ({problem.strerror})", "check the path") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not valid TOML: {problem}", "mend the file") from None
    settings = data.get(section, {})
    if not isinstance(settings, dict):
        raise InputError(f"{path}: {section} is not a section", f"write [{section}]")
    names = sorted(known)
    for key in settings:
        if key not in names:
            raise InputError(f"{path}: {section}.{key} is unknown", nearest(key, names))
    return settings


def write_settings(path: Path, section: str, settings: Mapping[str, Any]) -> None:
    """Write a section that `read_settings` reads back; what is None or empty is left out."""
    lines = [f"[{section}]"]
    for key, value in settings.items():
        if value is None or value == []:
            continue
        # A JSON string, number, truth value or list of them is also TOML.
        lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", "remove it")
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    append_private(temporary, ("\n".join(lines) + "\n").encode("utf-8"))
    temporary.replace(path)
