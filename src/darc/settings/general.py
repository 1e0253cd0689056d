"""Options that many commands share: the settings file, the log, the seed and the output."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.model import SettingsModel, option


class CommandSettings(SettingsModel):
    """Options of every command."""

    subject: ClassVar[str] = "general"

    config: Path | None = option(None, "TOML file with settings for this command", "FILE")
    log_level: Literal["debug", "info", "warning", "error"] = option(
        "warning", "how much to log on standard error"
    )


class SeedSettings(SettingsModel):
    """The seed of everything that is drawn at random."""

    seed: int = option(0, "seed of everything that is drawn at random", "N", ge=0)


class JsonSettings(SettingsModel):
    """Whether results are printed for programs."""

    subject: ClassVar[str] = "output"

    as_json: bool = option(False, "print one JSON object", flag="--json", common=True)


class OutSettings(SettingsModel):
    """Where results are written."""

    subject: ClassVar[str] = "output"

    out: Path | None = option(None, "write the results to this file", "FILE", common=True)


class PlotSettings(SettingsModel):
    """Whether a picture is drawn."""

    subject: ClassVar[str] = "output"

    plot: Path | None = option(None, "draw a picture (.png, .svg or .pdf)", "FILE", common=True)


class ForceSettings(SettingsModel):
    """Whether to go on in spite of a reason against it."""

    force: bool = option(False, "go on in spite of what stands against it", common=True)


class DetailsSettings(SettingsModel):
    """How much is said about a decision."""

    subject: ClassVar[str] = "output"

    details: bool = option(
        False, "print the numbers that the rule compared, and its own account", common=True
    )
