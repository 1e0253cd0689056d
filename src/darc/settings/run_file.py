"""Writing the settings of a run as the `run.toml` of its folder."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from darc.files import atomic_writer

#: Settings that name files, which are written with their whole path.
_FILES = ("prompts", "calibration")


def write_run_file(model: type[BaseModel], settings: BaseModel, path: Path) -> None:
    """Write settings as a section [run], which `darc run --config` reads again.

    Args:
        model: The class whose fields are written.
        settings: The settings, which may have further fields.
        path: The file.
    """
    values = settings.model_dump(mode="json", include=set(model.model_fields))
    for name in _FILES:
        values[name] = _whole_path(values.get(name))
    values["panel"] = [_whole_path(rater) for rater in values.get("panel", [])]
    lines = ["[run]"]
    for name, value in sorted(values.items()):
        if value is not None and value != []:
            # A JSON string, number, truth value or list of them is also TOML.
            lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
    with atomic_writer(path, private=True) as file:
        file.write("\n".join([*lines, ""]))


def _whole_path(text: Any) -> Any:
    """The whole path of a file; anything else as it is."""
    if isinstance(text, str) and Path(text).is_file():
        return str(Path(text).resolve())
    return text
