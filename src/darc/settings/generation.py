"""Where candidate answers come from, and how they are sampled."""

from typing import ClassVar

from darc.settings.general import SeedSettings
from darc.settings.model import SettingsModel, option

#: How generators, rewriters and scorers are written.
SPEC = "NAME[:ARGUMENT][,KEY=VALUE...]"


class StopSettings(SettingsModel):
    """When there are enough answers."""

    subject: ClassVar[str] = "answers"

    stop: str = option(
        "none",
        "when to stop writing answers: none writes all of them; pandora writes a few at a time, "
        "and stops when further answers are not expected to gain what they cost (in standard "
        "deviations of the scorers per answer); agree stops when the most frequent of equal "
        "answers will hardly be overtaken",
        "none|pandora[:cost=0.02,wave=N,least=2]|agree[:confidence=0.95,by=text]",
        per_request=True,
    )


class CandidateSettings(SettingsModel):
    """How many answers there are, and how long."""

    subject: ClassVar[str] = "answers"

    k: int = option(
        8,
        "how many answers to write for each prompt",
        "K",
        short_flag="-k",
        common=True,
        per_request=True,
        ge=1,
    )
    max_tokens: int = option(320, "the longest answer, in tokens", "N", ge=1)


class GenerationSettings(CandidateSettings, StopSettings, SeedSettings):
    """Where candidate answers come from, and how they are sampled."""

    subject: ClassVar[str] = "answers"

    generator: str = option(
        "embedded", "what writes the answers; `darc generators` lists them", SPEC, common=True
    )
    temperature: float = option(0.8, "temperature of sampling", "T", ge=0)
    top_p: float = option(
        0.98, "sample only from the most probable tokens that add up to this", "P", gt=0, le=1
    )
