"""The options of `darc compare`."""

from pathlib import Path
from typing import Literal

from darc.settings.general import CommandSettings, JsonSettings, PlotSettings, SeedSettings
from darc.settings.method import ScaleSettings
from darc.settings.model import option, same_option
from darc.settings.ratings import BootstrapSettings, SystemSettings, TopSettings


class CompareSettings(
    ScaleSettings,
    SystemSettings,
    TopSettings,
    SeedSettings,
    JsonSettings,
    PlotSettings,
    CommandSettings,
):
    """The options of `darc compare`."""

    source: Path = option(..., "a file of ratings, a run folder or an audit log", positional=True)
    by: Literal["rater_group"] | None = option(
        None, "also print a leaderboard for each group of raters", common=True
    )
    draws: int = same_option(BootstrapSettings, "draws", ge=100)
