"""The options of `darc reproduce`."""

from pathlib import Path
from typing import Literal

from darc.settings.general import CommandSettings, JsonSettings, OutSettings
from darc.settings.model import option, same_option

StepName = Literal["generate", "rewrite", "score", "side", "train", "evaluate", "tables"]


class ReproduceSettings(JsonSettings, CommandSettings):
    """The options of `darc reproduce`."""

    experiment: str = option(
        "paper",
        "the experiment: a TOML file, or the name of one that comes with DARC (paper)",
        "EXPERIMENT",
        positional=True,
        nargs="?",
    )
    out: Path = same_option(
        OutSettings,
        "out",
        default=...,
        text="the folder of the experiment; give the same one to go on",
        metavar="FOLDER",
        subject="options",
    )
    rehearse: bool = option(
        False,
        "do everything on tiny models made on the spot and on the embedded model, with few "
        "prompts; the numbers mean nothing",
        common=True,
    )
    plan: bool = option(False, "print what would be done and what it needs, and stop", common=True)
    step: StepName | None = option(
        None, "do this step only; the steps before it must be done", common=True
    )
    table: str | None = option(
        None, "make this table or figure only, with the work it needs", "NAME", common=True
    )
