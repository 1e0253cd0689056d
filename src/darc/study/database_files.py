"""The files of an SQLite database that is open."""

from contextlib import suppress
from pathlib import Path

from darc.errors import DarcError

#: What the names of a database's files end with, after its own name.
ENDINGS = ("", "-wal", "-shm")

FileIds = dict[str, tuple[int, int]]


class Unavailable(DarcError):
    """The database cannot be used now.

    The message tells strangers nothing about the place; the hint is for the log and the command
    line.
    """


class DatabaseFiles:
    """A database with its -wal and -shm file.

    A process goes on writing to a file that was deleted or moved, and whoever opens the path
    afterwards finds nothing of it. SQLite itself keeps the three files while they are open, and
    open connections keep their inodes from being used again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Device and inode of each file by its ending, once the database is open.
        self.opened: FileIds = {}

    def remember(self) -> None:
        """Remember the files that are there now as those of the open database."""
        self.opened = self.present()

    def present(self) -> FileIds:
        """The device and inode of each file that is there."""
        files = {}
        for ending in ENDINGS:
            with suppress(OSError):
                info = Path(f"{self.path}{ending}").stat()
                files[ending] = (info.st_dev, info.st_ino)
        return files

    def check(self) -> None:
        """Check that all files are those that were opened, by three calls of stat.

        Raises:
            Unavailable: One of them was deleted, moved or replaced.
        """
        if not self.opened:
            return
        present = self.present()
        if present == self.opened:
            return
        if "" not in present:
            raise Unavailable(
                "the database file was deleted or moved",
                f"put it back at {self.path}, or start again with another",
            )
        if present[""] != self.opened[""]:
            raise Unavailable(
                "another file is in the place of the database",
                f"put the first one back at {self.path}, or restart to use the one there now",
            )
        raise Unavailable(
            "the database's -wal or -shm file was deleted or replaced",
            f"restart, and leave the files beside {self.path} alone",
        )

    def only_deleted(self) -> bool:
        """Whether the database itself is in its place, and no other file was begun beside it."""
        present = self.present()
        return "" in present and present.items() <= self.opened.items()
