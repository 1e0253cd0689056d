"""The models that are installed, each beside a note of what it is."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from darc.errors import DarcError, InputError
from darc.files import atomic_writer, file_sha256
from darc.json_files import read_json
from darc.models.catalogue import DEFAULT, CatalogueEntry, lookup

CACHE_ENV = "DARC_CACHE"

_NOTE = "installed.json"


def cache_folder() -> Path:
    """Where downloaded files are kept: DARC_CACHE, else by the platform's convention."""
    from platformdirs import user_cache_path

    folder = os.environ.get(CACHE_ENV)
    if folder:
        return Path(folder).expanduser().absolute()
    return user_cache_path("darc", appauthor=False, opinion=False)


@dataclass(frozen=True)
class Installed:
    """A model on disk."""

    name: str
    path: Path
    #: The hash and size of this file.
    sha256: str
    size: int
    #: The hash of the file that was downloaded.
    source_sha256: str
    quantisation: str
    #: The file's size, time and inode when its content was last read and found good.
    stamp: tuple[int, ...] = field(default=(), compare=False)

    @property
    def intact(self) -> bool:
        """Whether the file's content is still what was installed; reads all of it."""
        return self.path.stat().st_size == self.size and file_sha256(self.path) == self.sha256

    @property
    def changed(self) -> bool:
        """Whether the content is not what was installed; reads it if the stamp differs."""
        stamp = stamp_of(self.path)
        if stamp == self.stamp:
            return False
        if not self.intact:
            return True
        # In a cache that cannot be written to, the file is read every time.
        with suppress(OSError, DarcError):
            write_note(replace(self, stamp=stamp))
        return False


def find(name: str = DEFAULT, cache: Path | None = None) -> Installed | None:
    """Find an installed model, by its note and not by its content.

    Args:
        name: The name of the model.
        cache: A folder in place of the user's cache folder.

    Returns:
        The model; None if it is not installed.

    Raises:
        UnknownName: There is no such model.
    """
    entry = lookup(name)
    folder = model_folder(entry, cache)
    try:
        note = read_json(folder / _NOTE)
        path = folder / note["path"]
        stamp = tuple(note.get("stamp", ()))
        installed = Installed(**{**note, "path": path, "stamp": stamp})
    except (InputError, TypeError, KeyError, AttributeError):
        return None
    if not installed.path.is_file() or installed.source_sha256 != entry.sha256:
        return None
    return installed


def require(name: str = DEFAULT, cache: Path | None = None) -> Installed:
    """Find an installed model whose content is what was installed.

    Args:
        name: The name of the model.
        cache: A folder in place of the user's cache folder.

    Returns:
        The model.

    Raises:
        InputError: It is not installed, or was changed; it names the command that installs it.
    """
    installed = find(name, cache)
    if installed is None:
        command = "darc models install"
        if name != DEFAULT:
            command += f" {lookup(name).short or name}"
        raise InputError(f"the model {name} is not installed", f"run: {command}")
    if installed.changed:
        raise InputError(
            f"{installed.path} changed on disk: it is not the model that was installed",
            f"run: darc models install {installed.name}",
        )
    return installed


def model_folder(entry: CatalogueEntry, cache: Path | None) -> Path:
    """Where a model is, or would be."""
    return (cache or cache_folder()) / "models" / f"{entry.name}-{entry.version}"


def write_note(installed: Installed) -> None:
    """Write the note beside the weights."""
    note = {**asdict(installed), "path": installed.path.name}
    with atomic_writer(installed.path.parent / _NOTE) as file:
        file.write(json.dumps(note, indent=2) + "\n")


def stamp_of(path: Path) -> tuple[int, int, int]:
    """What of a file differs after it was written to or replaced: size, time, inode."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
