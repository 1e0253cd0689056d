"""Where a model's weights are, as users write it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from darc.errors import InputError
from darc.files import read_json
from darc.models.installed import require

EMBEDDED = "embedded"
ADAPTER = "adapter_config.json"

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?\Z", re.ASCII)


@dataclass(frozen=True)
class Source:
    """Weights on the hub or on disk.

    `text` is what the user wrote; `weights` a name on the hub or a folder; `gguf` the file to be
    read in that folder, empty for the ordinary format; `adapter` a folder or a hub name whose
    low-rank weights go on top, empty where there are none.
    """

    text: str
    weights: str
    gguf: str = ""
    adapter: str = ""

    @property
    def local(self) -> bool:
        """Whether the weights are in a folder of this machine."""
        return Path(self.weights).is_dir()


def resolve(text: str, base: str = "") -> Source:
    """The source that a hub name, a folder, a GGUF file or "embedded" stands for.

    A folder with adapter_config.json is an adapter, whose base model is `base` or else the one
    named in that file. Looks at the disk alone; whether a hub name exists shows on loading.
    """
    if text == EMBEDDED:
        return _file(text, require().path)
    path = Path(text).expanduser()
    if path.suffix == ".gguf":
        return _file(text, path)
    if path.is_dir():
        if (path / ADAPTER).is_file():
            return _adapted(text, str(path), base or _base(path))
        if not (path / "config.json").is_file():
            raise InputError(f"{text} holds no model", "give a folder with a config.json")
        if base:
            raise InputError(f"{text} is no adapter", "leave base= out")
        return Source(text, str(path))
    if path.is_absolute() or not _HUB_NAME.match(text) or text.startswith("."):
        raise InputError(f"there is no model folder {text}", "check the path")
    return _adapted(text, text, base) if base else Source(text, text)


def _file(text: str, path: Path) -> Source:
    if not path.is_file():
        raise InputError(f"there is no model file {text}", "check the path")
    return Source(text, str(path.parent), gguf=path.name)


def _adapted(text: str, adapter: str, base: str) -> Source:
    below = resolve(base)
    if below.adapter:
        raise InputError(f"{base}, the base of {text}, is an adapter itself", "give base=MODEL")
    return replace(below, text=text, adapter=adapter)


def _base(folder: Path) -> str:
    """The base model that an adapter's configuration names."""
    try:
        name = read_json(folder / ADAPTER).get("base_model_name_or_path")
    except (InputError, AttributeError):
        name = None
    if not isinstance(name, str) or not name:
        raise InputError(f"{folder / ADAPTER} names no base model", "give base=MODEL")
    return name
