"""The options of `darc diagnose`."""

from pathlib import Path
from typing import ClassVar

from darc.settings.general import (
    CommandSettings,
    JsonSettings,
    OutSettings,
    PlotSettings,
    SeedSettings,
)
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.ratings import SystemSettings, TextsSettings, TopSettings
from darc.settings.sampling import PanelMode, PanelSettings


class PanelAuditSettings(SettingsModel):
    """What is found out about a panel."""

    subject: ClassVar[str] = "whether a panel may stand in for people"

    panel: Path | None = same_option(
        PanelSettings,
        "panel",
        default=None,
        text="audit this panel instead: a run with --panel, an audit log of one, "
        "or a file of grades by raters; SOURCE is then people's ratings of the same answers, and "
        "may be left out",
        metavar="RUN",
        nargs=None,
        bare_value=None,
    )
    epsilon: float = option(
        0.1,
        "with --panel: what a person's advantage over the panel is worth, as a share of answers; "
        "0.2 for experts, 0.15 for skilled annotators, 0.1 for crowd workers",
        "E",
        common=True,
        ge=0,
        lt=1,
        allow_inf_nan=False,
    )
    against: Path | None = option(
        None,
        "with --panel: look for drift since this earlier run, file of grades or calibration",
        "FILE",
        common=True,
    )
    probe: tuple[str, ...] = option(
        (),
        "with --panel: ask this panel live about changed answers of the run (order, padding, "
        "injected instructions, echo): judge:MODEL@URL, and a number of DARC's raters or a file; "
        "may be repeated",
        "N|FILE.toml|judge:MODEL@URL",
        common=True,
    )
    probe_prompts: int = option(
        20, "with --probe: how many prompts of the run to ask about", "N", ge=1, le=1000
    )
    probe_mode: PanelMode | None = same_option(
        PanelSettings, "panel_mode", text="with --probe: how raters judge (default: listwise)"
    )


class DiagnoseSettings(
    PanelAuditSettings, SystemSettings, TextsSettings, SeedSettings, PlotSettings, CommandSettings
):
    """The options of `darc diagnose`."""

    source: Path | None = option(
        None, "a file of ratings, or a folder made by `darc run`", positional=True, nargs="?"
    )
    as_json: bool = same_option(
        JsonSettings,
        "as_json",
        text="print one JSON object per scorer, or one of the panel",
        subject="output",
    )
    out: Path | None = same_option(
        OutSettings,
        "out",
        text="write every table to this folder",
        metavar="FOLDER",
        subject="output",
    )
    top: int = same_option(TopSettings, "top", subject="output", ge=1)
    halves: int = option(200, "how many random splits into halves", "N", ge=1)
    permutations: int = option(500, "how many random permutations for each test", "N", ge=1)
