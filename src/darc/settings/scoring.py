"""What scores the texts, and for how long."""

from typing import ClassVar

from darc.settings.generation import SPEC
from darc.settings.model import SettingsModel, option


class ScorerSettings(SettingsModel):
    """What scores answers and their rewrites."""

    subject: ClassVar[str] = "scorers"

    scorers: tuple[str, ...] = option(
        (),
        "what scores the answers; may be repeated; `darc scorers` lists them (default: a panel for "
        "a model on a server, otherwise relevance, fluency, form and harm)",
        SPEC,
        flag="--scorer",
        common=True,
    )
    side: tuple[str, ...] = option(
        (),
        "the scorer of a side input of the rule: log_likelihood, atypicality or dropout; may be "
        "repeated. same_call=without:NAME,... compares tool calls without these arguments",
        "NAME=SCORER",
    )


class ScoringSettings(ScorerSettings):
    """What scores the texts, and for how long."""

    subject: ClassVar[str] = "scorers"

    # Neither changes any score, so that a run folder does not record them.
    cache: bool = option(True, "do not keep scores for later runs", flag="--no-cache", exclude=True)
    scorer_timeout: float = option(
        600.0, "how many seconds one batch of a scorer may take", "SECONDS", gt=0, exclude=True
    )
