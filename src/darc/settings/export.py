"""The options of `darc export`."""

from pathlib import Path
from typing import Literal

from darc.settings.general import CommandSettings, OutSettings
from darc.settings.model import option, same_option


class ExportSettings(CommandSettings):
    """The options of `darc export`."""

    subject = "options"

    folder: Path = option(..., "a folder made by `darc run`", positional=True)
    format: Literal["alpaca", "mt-bench", "tidy", "parquet"] = option(
        "alpaca", "the format of the file", common=True
    )
    out: Path | None = same_option(
        OutSettings, "out", text="write this file (default: FOLDER.FORMAT.json, ...)"
    )
    name: str = option("", "the name of the model in the file", "NAME", common=True)
