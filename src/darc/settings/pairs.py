"""The options of `darc pairs`."""

from pathlib import Path
from typing import Literal

from darc.settings.general import CommandSettings, JsonSettings, OutSettings
from darc.settings.method import RiskSettings
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.ratings import TextsSettings


class PairSettings(SettingsModel):
    """How preference pairs are made.

    A pair is contentious when the probability that someone prefers the chosen answer is below
    `agreement`: Phi(difference / sqrt(sigma_a^2 + sigma_b^2)), the two being judged independently.
    """

    order_by: Literal["mean", "value"] = option(
        "mean", "what orders the candidates of a prompt", common=True
    )
    margin: float = option(
        0.0, "the least difference between the two of a pair", "D", common=True, ge=0
    )
    which: Literal["extremes", "all"] = option(
        "extremes",
        "pair the best with the worst candidate of a prompt, or make all pairs",
        common=True,
    )
    contentious: Literal["keep", "drop", "soft"] = option(
        "keep",
        "what to do with pairs that people would disagree about: keep them, drop them, or write "
        "the probability of every label (soft)",
        common=True,
    )
    agreement: float = option(
        0.75, "a pair is contentious below this probability", "P", ge=0.5, le=1
    )
    beta: float = same_option(RiskSettings, "beta")
    gamma: float = same_option(RiskSettings, "gamma")


class PairsCommandSettings(PairSettings, TextsSettings, CommandSettings):
    """The options of `darc pairs`."""

    source: Path = option(..., "a file of ratings, or a folder made by `darc run`", positional=True)
    out: Path = same_option(
        OutSettings, "out", default=..., text="write the pairs to this file, as JSON lines"
    )
    as_json: bool = same_option(JsonSettings, "as_json", text="print the counts as one JSON object")
