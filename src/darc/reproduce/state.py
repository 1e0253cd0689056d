"""Which tasks of an experiment are done, so that a stopped one goes on where it was."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.files import atomic_writer
from darc.json_files import read_json
from darc.runs.seals import checksum

STATE = "state.json"


@dataclass(frozen=True)
class DoneTask:
    """What is known of a task that is done."""

    #: A hash of everything that its results depend on.
    inputs: str
    seconds: float
    #: How many units of work it had, see `Task.units`.
    units: int


class State:
    """The tasks of a folder that are done, written after each of them.

    Args:
        folder: The folder of the experiment.

    Raises:
        InputError: The file of the folder cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / STATE
        self._done: dict[str, DoneTask] = {}
        if self._path.is_file():
            rows = read_json(self._path, "remove it to check every step again")
            try:
                self._done = {name: DoneTask(**row) for name, row in rows.items()}
            except (AttributeError, TypeError):
                raise InputError(
                    f"{self._path} is not the state of an experiment",
                    "remove it to check every step again",
                ) from None

    def is_done(self, name: str, inputs: str) -> bool:
        """Whether a task was done with these inputs."""
        done = self._done.get(name)
        return done is not None and done.inputs == inputs

    def seconds_per_unit(self, name: str) -> float | None:
        """How long a unit of a task took, None if it was never done."""
        done = self._done.get(name)
        if done is None or not done.units:
            return None
        return done.seconds / done.units

    def add(self, name: str, done: DoneTask) -> None:
        """Note that a task is done."""
        self._done[name] = done
        rows = {task: asdict(row) for task, row in self._done.items()}
        with atomic_writer(self._path) as file:
            json.dump(rows, file, indent=2)


def inputs_hash(settings: Mapping[str, Any], before: list[str]) -> str:
    """Hash what a task depends on.

    Args:
        settings: Its own settings, of plain values.
        before: The hashes of the tasks whose results it uses.

    Returns:
        A hash.
    """
    return checksum({"settings": dict(settings), "before": before})
