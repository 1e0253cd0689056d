"""The options of `darc eval`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import CommandSettings, JsonSettings, OutSettings, SeedSettings
from darc.settings.method import CautionSettings, MethodSettings, RiskSettings
from darc.settings.model import option, same_option
from darc.settings.ratings import (
    BootstrapSettings,
    HalvesSettings,
    JudgeSettings,
    SystemSettings,
    TextsSettings,
    TradeoffSettings,
)


class JudgingSettings(BootstrapSettings, SeedSettings):
    """What the choices of rules are judged by."""

    subject: ClassVar[str] = "measuring"

    sigma: Literal["evaluation", "selection"] = option(
        "evaluation", "on which half of the ratings risk is measured"
    )
    subset: Literal["baseline", "pool"] = option(
        "baseline",
        "which prompts count as high-variance: by the choice of Best-of-K, or by the largest sigma "
        "in the pool",
    )
    outcome: Literal["mean", "lcb"] = option("mean", "what the CVaR over prompts is computed from")


class MeasureSettings(TradeoffSettings, HalvesSettings, JudgingSettings):
    """How the choices of rules are judged."""

    subject: ClassVar[str] = "measuring"

    lambda_by_median: bool = option(
        False,
        "instead of --lambda, weigh disagreement so that its median penalty equals the median "
        "spread of the means",
    )
    tie_threshold: float = option(0.0, "differences up to this are ties", "D", ge=0)


class EvaluationSettings(CautionSettings, RiskSettings, MeasureSettings):
    """How an evaluation is made."""

    subject: ClassVar[str] = "choosing"

    rules: tuple[str, ...] = same_option(
        MethodSettings,
        "rule",
        default=(),
        text="a rule to compare with Best-of-K; may be repeated (default: all rules)",
    )


class EvaluateCommandSettings(
    EvaluationSettings, SystemSettings, TextsSettings, JsonSettings, CommandSettings
):
    """The options of `darc eval`."""

    also_common: ClassVar[tuple[str, ...]] = ("calibration", "lam", "splits", "system", "texts")

    sources: tuple[Path, ...] = option(
        (), "a file of ratings or a run folder", "SOURCE", positional=True, nargs="*"
    )
    judges: tuple[Path, ...] = same_option(
        JudgeSettings,
        "judges",
        text="a judge's grades of the same answers on more prompts than people rated, as a file, a "
        "run folder or an audit log: each rule's mean and change by both; may be repeated",
        common=False,
        subject="input",
    )
    out: Path | None = same_option(
        OutSettings,
        "out",
        text="write report.html with every table and figure to this folder",
        metavar="FOLDER",
        subject="output",
    )
    figures: bool = option(True, "draw no figures", flag="--no-figures", subject="output")
    stress_slice: Path | None = option(
        None,
        "for several families of rewrites: a file with the prompt ids of the stress slice, one per "
        "line (default: the prompts that are contested under the family style)",
        "FILE",
        subject="measuring",
    )
    check_paper: bool = option(
        False,
        "recompute the published tables and say which cells do not follow",
        subject="output",
    )
