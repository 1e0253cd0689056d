"""Calibrations of the rule `auto` as a file keeps them, and the ids that they are found by."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.files import read_json
from darc.selection.calibration import DEFAULT, Calibration
from darc.selection.ids import Ids
from darc.tables import atomic_writer
from darc.typing import Integers

FORM, VERSION = "darc calibrations", 1
AGAIN = "make it again with darc calibrate"


@dataclass(frozen=True, eq=False)
class Calibrations:
    """One calibration a scorer, by its name; one that is named "" is for whatever scorer there is.

    A file of the latter is that of `Calibration.save`.
    """

    by_scorer: Mapping[str, Calibration]

    def of(self, scorers: Sequence[str]) -> Calibration | tuple[Calibration, ...]:
        """The calibrations of some scorers, in their order; a scorer without one is refused.

        Where scorers have no names, those of several scorers are of no use.
        """
        if "" in self.by_scorer or not scorers:
            return self.by_scorer.get("", DEFAULT)
        for name in scorers:
            if name not in self.by_scorer:
                raise InputError(
                    f"the calibration knows nothing of scorer {name!r}",
                    f"it is of {', '.join(self.by_scorer)}; calibrate on scores of the same",
                )
        found = tuple(self.by_scorer[name] for name in scorers)
        return found[0] if len(found) == 1 else found

    @cached_property
    def text(self) -> str:
        """The content of its file."""
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
        found = read_json(Path(path), hint=AGAIN)
        if not isinstance(found, dict) or found.get("form") != FORM:
            return cls({"": Calibration.load(path)})
        parts = found.get("scorers")
        if found.get("version") != VERSION or not isinstance(parts, dict) or not parts:
            raise InputError(f"{path} has no scorers of version {VERSION}", AGAIN)
        return cls(
            {
                name: Calibration.from_json(json.dumps(part), f"{path}, scorer {name!r}")
                for name, part in parts.items()
            }
        )


def as_calibrations(given: Any) -> Calibrations | None:
    """What is meant by a file's path, a `Calibration`, several by scorer, or nothing."""
    if given is None or isinstance(given, Calibrations):
        return given
    if isinstance(given, Calibration):
        return Calibrations({"": given})
    if isinstance(given, Mapping):
        return Calibrations(dict(given))
    return Calibrations.load(given)


def rater_ids(codes: Integers, names: Sequence[str]) -> Ids:
    """The raters of samples (P, M, K, n), -1 being nobody, as rules see them: (P, K, n).

    Where the scorers of a prompt disagree on who gave a sample, nobody did.
    """
    one = codes.max(axis=1)
    fine = ((codes == one[:, None]) | (codes < 0)).all(axis=(1, 2, 3))
    return Ids(np.where(fine[:, None, None], one, -1), tuple(names))


def system_ids(systems: Sequence[Sequence[str]], candidates: int) -> Ids:
    """The systems of each prompt's candidates, (P, K), "" being not known."""
    places: dict[str, int] = {"": -1}
    codes = np.full((len(systems), candidates), -1, dtype=np.int64)
    for row, own in zip(codes, systems, strict=True):
        row[: len(own)] = [places.setdefault(name, len(places) - 1) for name in own]
    return Ids(codes, tuple(places)[1:])


def recurring(systems: Ids) -> Ids | None:
    """The systems that wrote for more than one prompt: of the others nothing can be learnt."""
    prompts, candidates = systems.codes.shape
    pairs = np.arange(prompts).repeat(candidates) * (len(systems.names) + 1) + systems.codes.ravel()
    found = np.unique(pairs[systems.codes.ravel() >= 0]) % (len(systems.names) + 1)
    again = np.append(np.bincount(found, minlength=len(systems.names)) > 1, False)
    if not again.any():
        return None
    place = np.where(again, np.cumsum(again) - 1, -1)
    names = tuple(name for name, kept in zip(systems.names, again, strict=False) if kept)
    return Ids(place[systems.codes], names)
