"""The options of `darc diagnose`."""

from pathlib import Path

from darc.settings.general import (
    CommandSettings,
    JsonSettings,
    OutSettings,
    PlotSettings,
    SeedSettings,
)
from darc.settings.model import option, same_option
from darc.settings.ratings import SystemSettings, TopSettings


class DiagnoseSettings(SystemSettings, SeedSettings, PlotSettings, CommandSettings):
    """The options of `darc diagnose`."""

    source: Path = option(..., "a file of ratings, or a folder made by `darc run`", positional=True)
    as_json: bool = same_option(
        JsonSettings, "as_json", text="print one JSON object per scorer", subject="output"
    )
    out: Path | None = same_option(
        OutSettings,
        "out",
        text="write every table to this folder",
        metavar="FOLDER",
        subject="output",
    )
    top: int = same_option(TopSettings, "top", subject="output", ge=1)
    halves: int = option(200, "how many random splits into halves", "N", ge=1)
    permutations: int = option(500, "how many random permutations for each test", "N", ge=1)
