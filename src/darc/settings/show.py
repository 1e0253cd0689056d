"""The options of `darc show`."""

from pathlib import Path
from typing import ClassVar

from darc.settings.ask import OutcomeSettings
from darc.settings.general import CommandSettings
from darc.settings.method import MethodSettings, StandardsSettings
from darc.settings.model import SettingsModel, option, same_option


class NewMethodSettings(StandardsSettings):
    """What is decided differently from the run; None means as in the run."""

    subject: ClassVar[str] = "choosing"

    rule: str | None = same_option(
        MethodSettings,
        "rule",
        default=None,
        text="decide again by this rule (default: the rule of the run)",
    )
    caution: str | None = same_option(
        MethodSettings,
        "caution",
        text="decide again with this caution: how much average rating to give up for an answer "
        "that divides people less (default: the caution of the run)",
    )
    calibration: Path | None = same_option(MethodSettings, "calibration")
    beta: float | None = same_option(
        MethodSettings,
        "beta",
        default=None,
        text="decide again with this risk aversion (default: that of the run)",
    )
    gamma: float | None = same_option(
        MethodSettings,
        "gamma",
        default=None,
        text="decide again with this weight of the least favourable scorer (default: that of the "
        "run)",
    )


class ShowSource(SettingsModel):
    """Which prompt of which run is shown."""

    folder: Path = option(..., "a folder made by `darc run`", positional=True)
    prompt: str = option(..., "the id of the prompt", positional=True)


class ShowSettings(NewMethodSettings, OutcomeSettings, ShowSource, CommandSettings):
    """The options of `darc show`."""

    also_common: ClassVar[tuple[str, ...]] = ("threshold", "no_rating_below")
