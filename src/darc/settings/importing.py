"""The options of `darc import`."""

from pathlib import Path

from darc.settings.general import CommandSettings, JsonSettings, OutSettings
from darc.settings.method import ScaleSettings
from darc.settings.model import option, same_option
from darc.settings.ratings import ColumnSettings


class ImportSettings(ColumnSettings, CommandSettings):
    """The options of `darc import`."""

    file: Path = option(
        ...,
        "what you have: a file, the folder of a dataset, or hf:OWNER/NAME",
        positional=True,
    )
    out: Path | None = same_option(
        OutSettings, "out", text="write the ratings to this file (default: beside the input)"
    )
    scale: str | None = same_option(
        ScaleSettings,
        "scale",
        text='the scale of ratings that are words, with a number for each, such as "bad=1,good=5"',
        metavar="WORD=NUMBER,...",
        common=True,
    )
    dataset_split: str = option("", "read only this split of a dataset", "NAME", common=True)
    as_json: bool = same_option(
        JsonSettings, "as_json", text="print what was understood as one JSON object"
    )
