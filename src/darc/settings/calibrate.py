"""The options of `darc calibrate`."""

from pathlib import Path

from darc.settings.general import CommandSettings, JsonSettings, OutSettings
from darc.settings.model import option, same_option
from darc.settings.ratings import JudgeSettings, SystemSettings, TopSettings, TradeoffSettings


class CalibrateSettings(
    SystemSettings, JudgeSettings, TradeoffSettings, JsonSettings, CommandSettings
):
    """The options of `darc calibrate`."""

    source: Path | None = option(
        None, "a file of ratings, a run folder or an audit log", positional=True
    )
    ratings: Path | None = option(
        None, "ratings by people of the answers of a run", positional=True
    )
    out: Path | None = same_option(
        OutSettings, "out", text="write the calibration to this file", subject="output"
    )
    show: str | None = option(
        None,
        "say what a calibration contains; without FILE, the one that DARC starts with",
        "FILE",
        nargs="?",
        bare_value="",
        common=True,
        subject="output",
    )
    top: int = same_option(TopSettings, "top", subject="output", ge=1)
