"""The options of `darc next`."""

from pathlib import Path

from darc.settings.general import CommandSettings, JsonSettings, OutSettings, SeedSettings
from darc.settings.model import option, same_option
from darc.settings.ratings import SystemSettings


class NextSettings(SystemSettings, SeedSettings, JsonSettings, CommandSettings):
    """The options of `darc next`."""

    source: Path = option(..., "a file of people's ratings so far", positional=True)
    budget: int = option(
        ..., "how many ratings to ask for at most", "N", common=True, ge=1, le=10_000_000
    )
    price: float = option(
        0.005,
        "what one rating must improve a choice by to be asked for, in standard deviations of an "
        "answer's ratings; 0 spends the whole budget",
        "P",
        common=True,
        ge=0,
        allow_inf_nan=False,
    )
    new_raters: bool = option(
        False,
        "also ask people who are not in the file, where everybody in it has rated an answer; "
        "their rater_id is empty",
        common=True,
    )
    out: Path | None = same_option(
        OutSettings, "out", text="write the ratings to ask for to this CSV file"
    )
