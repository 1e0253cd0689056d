"""What is installed: a folder a model, with the weights and a note of what they are."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from darc.errors import InputError
from darc.models.cache import cache_folder
from darc.models.catalogue import DEFAULT, Model, lookup

NOTE = "installed.json"


@dataclass(frozen=True)
class Installed:
    """A model on disk; `sha256` and `size` are this file's, `source_sha256` the fetched one's."""

    name: str
    path: Path
    sha256: str
    size: int
    source_sha256: str
    quantisation: str

    @property
    def intact(self) -> bool:
        """Whether the file's content is still what was installed; reads all of it."""
        return self.path.stat().st_size == self.size and file_sha256(self.path) == self.sha256


def find(name: str = DEFAULT, cache: Path | None = None) -> Installed | None:
    """The installed model, or None; looks at the note and the file's size, not at the content."""
    model = lookup(name)
    folder = model_folder(model, cache)
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        found = Installed(**{**note, "path": folder / note["path"]})
        whole = found.path.stat().st_size == found.size
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return found if whole and found.source_sha256 == model.sha256 else None


def require(name: str = DEFAULT, cache: Path | None = None) -> Installed:
    """The installed model; raises `InputError` that names the command which installs it."""
    found = find(name, cache)
    if found is None:
        raise InputError(f"the model {name} is not installed", "run: darc models install")
    return found


def model_folder(model: Model, cache: Path | None) -> Path:
    """Where a model is, or would be."""
    return (cache or cache_folder()) / "models" / f"{model.name}-{model.version}"


def write_note(installed: Installed) -> None:
    """Write the note beside the weights."""
    note = {**asdict(installed), "path": installed.path.name}
    text = json.dumps(note, indent=2) + "\n"
    (installed.path.parent / NOTE).write_text(text, encoding="utf-8")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
