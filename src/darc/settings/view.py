"""The options of `darc view` and `darc diff`."""

from pathlib import Path
from typing import ClassVar

from darc.settings.general import CommandSettings, JsonSettings
from darc.settings.method import CautionSettings, MethodSettings, StandardsSettings
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.ratings import SystemSettings, TextsSettings
from darc.settings.select import SelectOutputSettings
from darc.settings.serve import AddressSettings


class DecidingSettings(CautionSettings, StandardsSettings):
    """How ratings are decided, or the prompts of a run again."""

    subject: ClassVar[str] = "choosing"

    rules: tuple[str, ...] = same_option(
        MethodSettings,
        "rule",
        default=(),
        text="decide ratings, or a run again, by this rule; given twice, the second is for the "
        "second source, or for the same one (default: auto for ratings, the run's own for runs)",
    )


class SourcesSettings(DecidingSettings, SystemSettings, TextsSettings):
    """Which decisions are looked at."""

    also_common: ClassVar[tuple[str, ...]] = ("calibration", "texts", "threshold")

    sources: tuple[Path, ...] = option(
        ...,
        "a run folder, an audit log, a file of ratings or the folder of `darc eval --out`; two of "
        "them are compared",
        "SOURCE",
        positional=True,
        nargs="+",
    )


class PageSettings(SettingsModel):
    """How the page is served."""

    subject: ClassVar[str] = "page"

    port: int = same_option(
        AddressSettings,
        "port",
        default=0,
        text="the port to listen on (default: any that is free)",
    )
    open_browser: bool = option(False, "open the page in the browser", flag="--open", common=True)


class ViewSettings(SourcesSettings, PageSettings, CommandSettings):
    """The options of `darc view`."""

    also_common: ClassVar[tuple[str, ...]] = ("calibration", "texts", "threshold")


class DiffSettings(SourcesSettings, JsonSettings, CommandSettings):
    """The options of `darc diff`."""

    also_common: ClassVar[tuple[str, ...]] = ("calibration", "texts", "threshold")

    limit: int = same_option(
        SelectOutputSettings,
        "limit",
        text="how many changed prompts to show",
        common=True,
        subject="output",
    )
