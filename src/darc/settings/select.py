"""The options of `darc select`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import (
    CommandSettings,
    DetailsSettings,
    JsonSettings,
    OutSettings,
    PlotSettings,
    SeedSettings,
)
from darc.settings.method import (
    CautionSettings,
    GroupSettings,
    MethodSettings,
    RiskSettings,
    StandardsSettings,
)
from darc.settings.model import option, same_option
from darc.settings.ratings import JudgeSettings, SystemSettings


class RulesSettings(CautionSettings, StandardsSettings, GroupSettings, RiskSettings, SeedSettings):
    """How candidates are chosen by one rule or by several."""

    subject: ClassVar[str] = "choosing"

    rules: tuple[str, ...] = same_option(
        MethodSettings,
        "rule",
        default=(),
        text="a rule with its parameters, such as epsilon:epsilon=0.5; may be repeated to compare "
        "rules; `darc rules` lists them (default: auto)",
    )
    min_samples: int | None = same_option(MethodSettings, "min_samples")


class RatingsFileSettings(SystemSettings):
    """How the file of ratings is read."""

    subject: ClassVar[str] = "input"

    input_format: Literal["auto", "csv", "tsv", "jsonl", "parquet", "excel"] = option(
        "auto", "the format of the file"
    )
    layout: Literal["auto", "tidy", "wide", "pairwise"] = option("auto", "the layout of the file")
    rater_columns: tuple[str, ...] = option(
        (), "wide layout: the columns of the raters", "COLUMN", nargs="+"
    )
    scalarize: Literal["win-rate", "bradley-terry", "thurstone"] = option(
        "win-rate", "pairwise layout: how comparisons become scores"
    )
    judges: tuple[str, ...] = same_option(JudgeSettings, "judges", common=False)
    side_file: Path | None = option(
        None,
        "side inputs of rules such as rbon: prompt_id, candidate_id and named columns",
        "FILE",
    )


class SelectOutputSettings(DetailsSettings, PlotSettings):
    """What is printed, written and drawn."""

    subject: ClassVar[str] = "output"

    as_json: bool = same_option(
        JsonSettings,
        "as_json",
        text="print one JSON object per prompt and rule",
        exclusive="format",
    )
    csv: bool = option(False, "print one CSV line per prompt and rule", exclusive="format")
    out: Path | None = same_option(
        OutSettings,
        "out",
        text="write all choices to this file: JSON lines if it ends in .json or .jsonl, else CSV",
    )
    prompt: str | None = option(None, "the prompt to show and to draw", "ID", common=True)
    explain: bool = option(False, "explain every decision", common=True)
    bounds: tuple[float, float] | None = option(
        None,
        "the ends of the rating scale: adds a lower confidence bound on the mean of the choice, "
        "valid for independent raters (rewrites have none); also the scale unless --scale is given",
        ("LOW", "HIGH"),
        nargs=2,
    )
    delta: float = option(0.05, "failure probability of the confidence bound", "P", gt=0, lt=1)
    flip: bool = option(
        False, "find the smallest change of one rating that would change the choice"
    )
    limit: int = option(20, "how many rows of the table to show", "N", ge=0)


class SelectSettings(RulesSettings, RatingsFileSettings, SelectOutputSettings, CommandSettings):
    """The options of `darc select`."""

    also_common: ClassVar[tuple[str, ...]] = ("scale", "threshold", "no_rating_below")

    source: str = option(
        "-",
        "a file of ratings, a folder with one file per system, or - for standard input",
        positional=True,
    )
