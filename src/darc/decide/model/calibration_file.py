"""The calibrations of one or several scorers, as a file keeps them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from darc.decide.model.calibration import DEFAULT, Calibration
from darc.decide.model.calibration import VERSION as CALIBRATION_VERSION
from darc.errors import InputError
from darc.files import atomic_writer
from darc.json_files import read_json

FORM = "darc calibrations"
VERSION = 1
AGAIN = "make it again with darc calibrate"
OLDER = (
    "{} was written by an older version; darc calibrate writes what it lacks: how often answers "
    "divide people"
)


@dataclass(frozen=True, eq=False)
class Calibrations:
    """One calibration per scorer, by its name.

    One that is named "" is for whatever scorer there is; its file is that of `Calibration.save`.
    """

    #: The calibration of each scorer.
    by_scorer: Mapping[str, Calibration]
    #: What a user should know about the file that they come from, a sentence each.
    notes: tuple[str, ...] = ()
    #: The content of that file where an older version wrote it, which tells it from others as it
    #: did then; empty otherwise.
    older_text: str = ""

    def of(self, scorers: Sequence[str]) -> Calibration | tuple[Calibration, ...]:
        """The calibrations of some scorers, in their order.

        Where scorers have no names, those of several scorers are of no use.

        Raises:
            InputError: If a scorer has none.
        """
        if "" in self.by_scorer or not scorers:
            return self.by_scorer.get("", DEFAULT)
        for name in scorers:
            if name not in self.by_scorer:
                raise InputError(
                    f"the calibration knows nothing of scorer {name!r}",
                    f"it is of {', '.join(self.by_scorer)}; calibrate on scores of the same",
                )
        calibrations = tuple(self.by_scorer[name] for name in scorers)
        if len(calibrations) == 1:
            return calibrations[0]
        return calibrations

    @cached_property
    def text(self) -> str:
        """The content of its file."""
        if self.older_text:
            return self.older_text
        if "" in self.by_scorer:
            return self.by_scorer[""].to_json()
        parts = {name: json.loads(one.to_json()) for name, one in self.by_scorer.items()}
        return json.dumps({"form": FORM, "version": VERSION, "scorers": parts}, indent=1) + "\n"

    @property
    def digest(self) -> str:
        """What tells it from another."""
        return f"sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"

    def save(self, path: Path, *, private: bool = False) -> None:
        """Write the file, whole or not at all; a new one that is `private` for its owner only."""
        with atomic_writer(path, private=private) as file:
            file.write(self.text)

    @classmethod
    def load(cls, path: str | Path) -> "Calibrations":
        """The calibrations in a file; one that cannot be used is refused with its field's name."""
        data = read_json(Path(path), hint=AGAIN)
        if not isinstance(data, dict) or data.get("form") != FORM:
            by_scorer = {"": Calibration.load(path)}
            versions = [data["version"]]
        else:
            parts = data.get("scorers")
            if data.get("version") != VERSION or not isinstance(parts, dict) or not parts:
                raise InputError(f"{path} has no scorers of version {VERSION}", AGAIN)
            by_scorer = {
                name: Calibration.from_json(json.dumps(part), f"{path}, scorer {name!r}")
                for name, part in parts.items()
            }
            versions = [part["version"] for part in parts.values()]
        if min(versions) == CALIBRATION_VERSION:
            return cls(by_scorer)
        text = Path(path).read_text(encoding="utf-8")
        return cls(by_scorer, (OLDER.format(Path(path).name),), text)


def as_calibrations(calibration: Any) -> Calibrations | None:
    """Read what a user gives: a file's path, a `Calibration`, several by scorer, or None."""
    if calibration is None or isinstance(calibration, Calibrations):
        return calibration
    if isinstance(calibration, Calibration):
        return Calibrations({"": calibration})
    if isinstance(calibration, Mapping):
        return Calibrations(dict(calibration))
    return Calibrations.load(calibration)
