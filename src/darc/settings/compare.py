"""The options of `darc compare`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import CommandSettings, JsonSettings, PlotSettings, SeedSettings
from darc.settings.method import ScaleSettings
from darc.settings.model import option, same_option
from darc.settings.ratings import (
    BootstrapSettings,
    JudgeSettings,
    SystemSettings,
    TopSettings,
    TradeoffSettings,
)


class CompareSettings(
    ScaleSettings,
    SystemSettings,
    TopSettings,
    TradeoffSettings,
    SeedSettings,
    JsonSettings,
    PlotSettings,
    CommandSettings,
):
    """The options of `darc compare`."""

    also_common: ClassVar[tuple[str, ...]] = ("pair", "threshold", "scale", "system")

    sources: tuple[Path, ...] = option(
        ...,
        "a file of ratings, a run folder or an audit log; several are put together",
        "SOURCE",
        positional=True,
        nargs="+",
    )
    by: Literal["rater_group"] | None = option(
        None, "also print a leaderboard for each group of raters", common=True
    )
    pair: tuple[str, ...] = option(
        (), "print the difference of these two systems with its interval", "SYSTEM", nargs=2
    )
    judges: tuple[Path, ...] = same_option(
        JudgeSettings,
        "judges",
        text="a judge's grades of the same systems on more prompts, as a file, a run folder or an "
        "audit log: means and differences that use both; may be repeated",
    )
    draws: int = same_option(BootstrapSettings, "draws", ge=100)
