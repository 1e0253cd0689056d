"""The options of `darc tune`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import (
    CommandSettings,
    JsonSettings,
    OutSettings,
    PlotSettings,
    SeedSettings,
)
from darc.settings.method import CautionSettings, MethodSettings
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.ratings import HalvesSettings, SystemSettings, TradeoffSettings


class GridSettings(TradeoffSettings, SeedSettings):
    """Which settings are tried, and what they are judged by."""

    subject: ClassVar[str] = "tuning"

    objective: Literal["tradeoff", "cvar", "mean"] | None = option(
        None, "what to maximise; the objectives are explained below", common=True
    )
    risk_cap: float | None = option(
        None, "with the objective mean: the largest average sigma", "SIGMA"
    )
    rules: tuple[str, ...] = same_option(
        MethodSettings,
        "rule",
        default=(),
        text="tune this rule only; may be repeated",
        metavar="NAME",
    )
    grid: Literal["coarse", "fine"] = option(
        "coarse", "how many settings of each rule to try", common=True
    )
    folds: int = option(5, "how many folds of prompts", "N", ge=2)
    split: Literal["auto", "rater", "sample"] = same_option(HalvesSettings, "split")
    splits: int = same_option(HalvesSettings, "splits", default=10)


class PromiseSettings(SettingsModel):
    """Which answers to hold back."""

    subject: ClassVar[str] = "holding answers back"

    risk: str | None = option(
        None,
        "find which answers to hold back, instead of a rule: what a rater says of a bad answer, "
        'such as "rating < 4"',
        "LIMIT",
        common=True,
    )
    level: float = option(
        0.1, "with --risk: the largest share of bad answers", "SHARE", gt=0, lt=1, common=True
    )
    promise: Literal["batch", "overall", "shown"] = option(
        "batch",
        "with --risk: batch (of the answers shown, at most the level are bad on average), overall "
        "(at most the level of all prompts get a bad answer) or shown (as batch, with 95 % "
        "confidence)",
        common=True,
    )


class TuneSettings(
    GridSettings,
    PromiseSettings,
    CautionSettings,
    SystemSettings,
    JsonSettings,
    PlotSettings,
    CommandSettings,
):
    """The options of `darc tune`."""

    source: Path = option(..., "a file of ratings, or a folder made by `darc run`", positional=True)
    out: Path | None = same_option(
        OutSettings,
        "out",
        text="write the best settings as TOML, for --config; with --risk, the calibration that "
        "holds answers back, for --calibration",
        subject="output",
    )
