"""The files of a study in SQLite: that those at its path are still the ones that were opened."""

from pathlib import Path

from darc.errors import DarcError, InputError
from darc.files import append_private

ENDINGS = ("", "-wal", "-shm")

Identity = tuple[int, int]


class Unavailable(DarcError):
    """The database cannot be used now.

    `message` tells strangers nothing about the place; `hint` is for the log and the command line.
    """


class DatabaseFiles:
    """A database with its -wal and -shm file, known by device and inode once `remember` was called.

    A process goes on writing to a file that was deleted or moved, and whoever opens the path
    afterwards finds nothing of it. SQLite itself keeps the three files while they are open, and
    open connections keep their inodes from being used again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._paths = [path.with_name(path.name + ending) for ending in ENDINGS]
        self._known: tuple[Identity | None, ...] | None = None

    def create(self) -> None:
        """Make the file, where there is none, for its owner alone; SQLite's others follow it."""
        try:
            append_private(self.path)
        except OSError as problem:
            raise InputError(
                f"{self.path} cannot be made ({problem.strerror})", "take another --database"
            ) from None

    def remember(self) -> None:
        """Take the files as they are now for the right ones."""
        self._known = self._found()

    def check(self) -> None:
        """Raise `Unavailable` unless all files are those remembered; three calls of stat."""
        if self._known is None or (found := self._found()) == self._known:
            return
        if found[0] is None:
            raise Unavailable(
                "the database file was deleted or moved",
                f"put it back at {self.path}, or start again with another",
            )
        if found[0] != self._known[0]:
            raise Unavailable(
                "another file is in the place of the database",
                f"put the first one back at {self.path}, or restart to use the one there now",
            )
        raise Unavailable(
            "the database's -wal or -shm file was deleted or replaced",
            f"restart, and leave the files beside {self.path} alone",
        )

    def may_checkpoint(self) -> bool:
        """Whether the database is in its place and nobody began a -wal or -shm file of their own.

        What a deleted -wal file holds can then be brought into it.
        """
        if self._known is None:
            return False
        pairs = list(zip(self._found(), self._known, strict=True))
        return pairs[0][0] == pairs[0][1] and all(now in (None, then) for now, then in pairs)

    def _found(self) -> tuple[Identity | None, ...]:
        return tuple(map(_identity, self._paths))


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
