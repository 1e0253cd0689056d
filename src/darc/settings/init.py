"""The options of `darc init`."""

from pathlib import Path

from darc.settings.discovery import DiscoverySettings
from darc.settings.general import CommandSettings, ForceSettings
from darc.settings.generation import GenerationSettings
from darc.settings.model import option, same_option


class InitSettings(DiscoverySettings, CommandSettings):
    """The options of `darc init`."""

    folder: Path = option(Path(), "where to write the files", "FOLDER", positional=True)
    generator: str = same_option(
        GenerationSettings,
        "generator",
        text="what writes the answers of the run (default: a model that is found on this machine)",
    )
    force: bool = same_option(ForceSettings, "force", text="replace files that are there already")
