"""Which files a client may name."""

import os
from collections.abc import Sequence
from pathlib import Path

from darc.errors import InputError
from darc.ratings.texts import texts_beside

_OPTION = "--allow-folder"


class AllowedFolders:
    """The folders whose files may be read for a client.

    Args:
        folders: The folders; relative paths of clients begin in the first one.

    Raises:
        InputError: If one of them is not a folder.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [folder.resolve() for folder in folders]
        for folder in self._folders:
            if not folder.is_dir():
                raise InputError(f"{folder} is not a folder", f"give {_OPTION} a folder")

    def find(self, text: str) -> Path:
        """Find a file or folder that a client has named.

        Args:
            text: The path. Symbolic links count as what they point to.

        Returns:
            The whole path, with everything that is read along with it inside the folders.

        Raises:
            InputError: If it is outside, or does not exist. Whether a file outside exists is not
                said.
        """
        if not self._folders:
            raise InputError(
                "this server reads no files", f"start it with {_OPTION} FOLDER, or give ratings"
            )
        try:
            path = (self._folders[0] / text).resolve()
        except (OSError, ValueError, RuntimeError):
            raise InputError(f"{text!r} is not a path", "name a file or a folder") from None
        if not self._contains(path):
            raise self._outside(text)
        if not path.exists():
            raise InputError(f"there is no file or folder {text!r}", "check the path")
        for read_along in _read_along(path):
            if not self._contains(read_along.resolve()):
                raise self._outside(str(read_along))
        return path

    def _contains(self, path: Path) -> bool:
        """Whether a resolved path is inside one of the folders."""
        return any(path.is_relative_to(folder) for folder in self._folders)

    def _outside(self, text: str) -> InputError:
        """The error for a path outside the folders."""
        folders = ", ".join(str(folder) for folder in self._folders)
        return InputError(f"{text!r} is outside the folders that are allowed", f"use {folders}")


def _read_along(path: Path) -> list[Path]:
    """What is read together with a path: the content of a folder, the texts beside a file."""
    if path.is_file():
        texts = texts_beside(path)
        if texts is None:
            return []
        return [texts]
    paths = []
    for folder, subfolders, files in os.walk(path):
        paths += [Path(folder, name) for name in (*subfolders, *files)]
    return paths
