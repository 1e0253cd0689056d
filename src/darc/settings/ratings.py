"""How files of ratings are read: what columns are called, and who wrote what."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.model import SettingsModel, option


class ColumnSettings(SettingsModel):
    """What a file calls its columns."""

    subject: ClassVar[str] = "input"

    columns: tuple[str, ...] = option(
        (),
        "what the file calls a column, such as prompt_id=question or system=model; may be repeated",
        "NAME=THEIRS",
        flag="--column",
        common=True,
    )


class SystemSettings(ColumnSettings):
    """What a file calls its columns, and which system wrote a candidate."""

    subject: ClassVar[str] = "input"

    system: Literal["auto", "none"] = option(
        "auto",
        "which system wrote a candidate, for the rule auto: by the column system, or by candidate "
        "ids that recur across prompts (auto); or leave systems out (none)",
    )


class JudgeSettings(SettingsModel):
    """Cheap judgements of the answers that people rated."""

    subject: ClassVar[str] = "input"

    judges: tuple[str, ...] = option(
        (),
        "judgements of the same answers: a file of grades, a run folder or an audit log; or "
        "`texts`, for features of the answers' texts; may be repeated",
        "FILE",
        flag="--judge",
        common=True,
    )


class TextsSettings(SettingsModel):
    """Where the texts of candidates are."""

    subject: ClassVar[str] = "input"

    texts: Path | None = option(
        None, "the texts of the candidates, as JSON lines (see below)", "FILE"
    )


class TopSettings(SettingsModel):
    """How much of a long list is printed."""

    subject: ClassVar[str] = "output"

    top: int = option(5, "how many prompts, raters or systems to show", "N", ge=0)


class TradeoffSettings(SettingsModel):
    """What disagreement is worth."""

    subject: ClassVar[str] = "measuring"

    lam: float = option(
        2.0,
        "how much mean a unit of disagreement (sigma) is worth",
        "L",
        flag="--lambda",
        ge=0,
        allow_inf_nan=False,
    )


class HalvesSettings(SettingsModel):
    """How ratings are divided into a half that selects and a half that judges."""

    subject: ClassVar[str] = "measuring"

    split: Literal["auto", "rater", "sample"] = option(
        "auto", "what is divided into halves; auto: raters, if the same ones recur"
    )
    splits: int = option(20, "how many random splits into halves", "N", ge=1, le=10_000)


class BootstrapSettings(SettingsModel):
    """How intervals are computed."""

    subject: ClassVar[str] = "measuring"

    draws: int = option(2000, "how many bootstrap draws", "N", ge=1, le=1_000_000)
