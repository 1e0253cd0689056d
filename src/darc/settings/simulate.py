"""The options of `darc simulate`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import (
    CommandSettings,
    JsonSettings,
    OutSettings,
    PlotSettings,
    SeedSettings,
)
from darc.settings.method import MethodSettings
from darc.settings.model import SettingsModel, option, same_option


class PopulationSettings(SettingsModel):
    """What the simulated people are like; None means as in the preset."""

    subject: ClassVar[str] = "people"

    people: str | None = option(
        None,
        "the preset that says what the people are like; --list shows them (default: paper)",
        "PRESET",
        common=True,
    )
    n_prompts: int | None = option(None, "how many prompts", "N", common=True)
    n_candidates: int | None = option(None, "how many candidates per prompt", "N", common=True)
    n_raters: int | None = option(None, "how many raters per candidate", "N", common=True)
    crowd: int | None = option(
        None, "from how many people the raters are drawn; 0: other people for every prompt", "N"
    )
    polarising: float | None = option(
        None, "the share of candidates that divide the groups", "SHARE"
    )
    gap: float | None = option(None, "how much less those are worth to the last group", "X")
    rating_noise: float | None = option(None, "the scale of the noise of a rating", "X")
    df: float | None = option(
        None, "degrees of freedom of the noise; inf is normal, 3 has heavy tails", "X"
    )
    severity: float | None = option(None, "the standard deviation of the raters' severity", "X")
    missing_share: float | None = option(None, "the share of ratings left out", "SHARE")
    step: float | None = option(
        None, "ratings are multiples of this; 0: they are not rounded", "X", flag="--round-to"
    )
    groups: tuple[float, ...] = option((), "the shares of the groups of people", "SHARE", nargs="+")
    scale: str | None = same_option(MethodSettings, "scale", common=False)
    changes: tuple[str, ...] = option(
        (), "any other number of the preset; --list shows them", "KEY=VALUE", flag="--set"
    )


class SimulateSettings(PopulationSettings, SeedSettings, PlotSettings, CommandSettings):
    """The options of `darc simulate`."""

    subject: ClassVar[str] = "output"

    out: Path | None = same_option(
        OutSettings,
        "out",
        text="write the ratings there (default: standard output); a folder, or a name without an "
        "ending, gets ratings.csv, truth.csv and proxy.csv",
        metavar="PATH",
    )
    truth: Path | None = option(
        None, "write what all people think of each candidate", "FILE", common=True
    )
    experiment: (
        Literal["disagreement", "coverage", "buckets", "raters", "hacking", "asking"] | None
    ) = option(None, "run this experiment instead of writing ratings", common=True)
    replay: Path | None = option(
        None,
        "a file of people's ratings that the experiment asking replays, in place of simulated ones",
        "FILE",
    )
    rules: tuple[str, ...] = same_option(
        MethodSettings,
        "rule",
        default=(),
        text="the rules to compare in the experiment hacking (may be repeated), or the rule in "
        "the experiment buckets",
    )
    as_json: bool = same_option(
        JsonSettings, "as_json", text="with an experiment: print one JSON object per row"
    )
    list_presets: bool = option(
        False, "list the presets and their numbers", flag="--list", common=True
    )
