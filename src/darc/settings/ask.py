"""The options of `darc ask`."""

from pathlib import Path
from typing import ClassVar

from darc.settings.discovery import DiscoverySettings
from darc.settings.engine import ChoiceSettings
from darc.settings.general import CommandSettings, DetailsSettings, JsonSettings, PlotSettings
from darc.settings.model import SettingsModel, option


class OutcomeSettings(JsonSettings, DetailsSettings, PlotSettings):
    """What is printed and drawn of one outcome."""

    subject: ClassVar[str] = "output"

    html: Path | None = option(
        None, "write a page with everything about the decision", "FILE", common=True
    )


class OwnAnswerSettings(SettingsModel):
    """Answers that are there already."""

    subject: ClassVar[str] = "answers"

    answers: tuple[Path, ...] = option(
        (),
        "choose among your own answers instead of a model's: files, a folder, or - for standard "
        "input",
        "FILE",
        nargs="+",
        common=True,
    )
    answer: tuple[str, ...] = option(
        (), "one of your own answers; may be repeated", "TEXT", common=True
    )


class AskSettings(
    ChoiceSettings, OwnAnswerSettings, DiscoverySettings, OutcomeSettings, CommandSettings
):
    """The options of `darc ask`."""

    question: str = option(..., "the question; - reads it from standard input", positional=True)
    full: bool = option(
        False, "make and score every rewrite, even those that cannot change the choice"
    )
