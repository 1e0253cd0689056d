"""What is installed: a folder a model, with the weights and a note of what they are."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from darc.errors import InputError
from darc.files import read_json
from darc.models.cache import cache_folder
from darc.models.catalogue import DEFAULT, Model, lookup

NOTE = "installed.json"


@dataclass(frozen=True)
class Installed:
    """A model on disk; `sha256` and `size` are this file's, `source_sha256` the fetched one's.

    `stamp` is the file's size, time and inode when its content was last read and found good.
    """

    name: str
    path: Path
    sha256: str
    size: int
    source_sha256: str
    quantisation: str
    stamp: tuple[int, ...] = field(default=(), compare=False)

    @property
    def intact(self) -> bool:
        """Whether the file's content is still what was installed; reads all of it."""
        return self.path.stat().st_size == self.size and file_sha256(self.path) == self.sha256

    @property
    def changed(self) -> bool:
        """Whether the content is another than was installed; reads it where the stamp differs."""
        seen = stamp_of(self.path)
        if seen == self.stamp:
            return False
        if not self.intact:
            return True
        # In a cache that cannot be written to it is read every time.
        with suppress(OSError):
            write_note(replace(self, stamp=seen))
        return False


def find(name: str = DEFAULT, cache: Path | None = None) -> Installed | None:
    """The installed model, or None; looks at the note, not at the content."""
    model = lookup(name)
    folder = model_folder(model, cache)
    try:
        note = read_json(folder / NOTE)
        stamp = tuple(note.get("stamp", ()))
        found = Installed(**{**note, "path": folder / note["path"], "stamp": stamp})
    except (InputError, TypeError, KeyError, AttributeError):
        return None
    return found if found.path.is_file() and found.source_sha256 == model.sha256 else None


def require(name: str = DEFAULT, cache: Path | None = None) -> Installed:
    """The installed model; raises `InputError` that names the command which installs it.

    One whose content is no longer what was installed is refused.
    """
    found = find(name, cache)
    if found is None:
        which = "" if name == DEFAULT else f" {name}"
        raise InputError(f"the model {name} is not installed", f"run: darc models install{which}")
    if found.changed:
        raise InputError(
            f"{found.path} changed on disk: it is not the model that was installed",
            f"run: darc models install {found.name}",
        )
    return found


def model_folder(model: Model, cache: Path | None) -> Path:
    """Where a model is, or would be."""
    return (cache or cache_folder()) / "models" / f"{model.name}-{model.version}"


def write_note(installed: Installed) -> None:
    """Write the note beside the weights."""
    note = {**asdict(installed), "path": installed.path.name}
    place = installed.path.parent / NOTE
    temporary = place.with_name(f"{NOTE}.{os.getpid()}")
    temporary.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    temporary.replace(place)


def stamp_of(path: Path) -> tuple[int, int, int]:
    """What of a file differs when it was written to or replaced: size, time, inode."""
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns, seen.st_ino


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
