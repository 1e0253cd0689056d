"""Everything that a choice among answers depends on: the keywords of `Engine`."""

from typing import ClassVar

from darc.settings.generation import GenerationSettings
from darc.settings.method import MethodSettings, SearchSettings
from darc.settings.model import SettingsModel, option
from darc.settings.sampling import SamplingSettings
from darc.settings.scoring import ScoringSettings


class WorkerSettings(SettingsModel):
    """How many processes do the work."""

    subject: ClassVar[str] = "files and processes"

    workers: int | None = option(
        None,
        "how many processes rewrite and run the embedded scorers; 0 uses none (default: one "
        "per core, and with --engine ray none)",
        "N",
        ge=0,
    )


class ChoiceSettings(
    GenerationSettings, SamplingSettings, ScoringSettings, MethodSettings, SearchSettings
):
    """Everything that a choice among answers depends on."""


class EngineSettings(ChoiceSettings, WorkerSettings):
    """The keywords of `Engine`."""
