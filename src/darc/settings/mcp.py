"""The options of `darc mcp`."""

from pathlib import Path
from typing import ClassVar

from darc.settings.discovery import DiscoverySettings
from darc.settings.engine import ChoiceSettings
from darc.settings.general import CommandSettings
from darc.settings.model import SettingsModel, option


class AllowedFolderSettings(SettingsModel):
    """Which files clients may name."""

    subject: ClassVar[str] = "clients"

    allow_folder: tuple[Path, ...] = option(
        (),
        "a folder whose files of ratings and runs clients may name; may be repeated (default: "
        "clients can name no files)",
        "FOLDER",
        common=True,
    )


class McpSettings(AllowedFolderSettings, ChoiceSettings, DiscoverySettings, CommandSettings):
    """The options of `darc mcp`."""

    also_common: ClassVar[tuple[str, ...]] = ("scale", "threshold")
