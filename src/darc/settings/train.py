"""The options of `darc train`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import CommandSettings, JsonSettings, OutSettings, SeedSettings
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.ratings import TextsSettings


class TrainingSeedSettings(SettingsModel):
    """The seed of everything that is drawn in training."""

    seed: int = option(
        7, "seed of everything that is drawn in training", "N", flag="--training-seed", ge=0
    )


class RecipeSettings(TrainingSeedSettings):
    """Every number of a training run."""

    subject: ClassVar[str] = "recipe"
    default_text: ClassVar[str] = "that of the preset"

    model: str = option(
        "",
        "the model to train: a hub name, a folder, a .gguf file or embedded",
        "MODEL",
        flag="--base-model",
        common=True,
    )
    dtype: Literal["fp32", "bf16"] = option("fp32", "the number format of the computation")
    rank: int = option(16, "rank of LoRA", "N", flag="--lora-rank", ge=1)
    alpha: int = option(32, "alpha of LoRA", "N", flag="--lora-alpha", ge=1)
    dropout: float = option(0.05, "dropout of LoRA", "P", flag="--lora-dropout", ge=0, lt=1)
    beta: float = option(0.1, "beta of DPO", "B", flag="--dpo-beta", gt=0)
    learning_rate: float = option(1e-5, "learning rate of AdamW", "R", common=True, gt=0)
    batch: int = option(1, "pairs in one pass", "N", ge=1)
    accumulation: int = option(16, "passes per step", "N", ge=1)
    epochs: float = option(5.0, "passes over all pairs", "N", common=True, gt=0)
    steps: int = option(0, "end after so many steps; 0: after all epochs", "N", common=True, ge=0)
    prompt_tokens: int = option(512, "tokens of a prompt, counted from its end", "N", ge=1)
    response_tokens: int = option(512, "tokens of an answer, counted from its beginning", "N", ge=1)
    every: int = option(
        50, "steps between two checkpoints and measurements on held-out pairs", "N", ge=1
    )


class PolicySettings(RecipeSettings, JsonSettings, CommandSettings):
    """The options that `darc train dpo`, `cdpo` and `rdpo` share."""

    subject: ClassVar[str] = "options"

    data: str = option(
        ..., "preference pairs: .jsonl, .parquet, or OWNER/NAME on the hub", "FILE", common=True
    )
    out: Path = same_option(
        OutSettings,
        "out",
        default=...,
        text="write the policy to this folder",
        metavar="FOLDER",
        subject="options",
    )
    preset: Literal["paper", "cpu-small"] = option(
        "paper",
        "where the numbers of the recipe come from: paper is QLoRA of "
        "meta-llama/Llama-3.1-8B-Instruct on a GPU, cpu-small trains the embedded model here; see "
        "`darc train presets`",
        common=True,
    )
    held_out: float = option(
        0.1, "the share of prompts that is kept for measuring", "SHARE", common=True, ge=0, lt=1
    )


class LabelNoiseSettings(SettingsModel):
    """How many labels are taken to be wrong."""

    label_noise: float = option(0.10, "the share of wrong labels, below 0.5", "SHARE", common=True)


class DpoSettings(PolicySettings):
    """The options of `darc train dpo`."""


class CdpoSettings(PolicySettings, LabelNoiseSettings):
    """The options of `darc train cdpo`."""


class RdpoSettings(PolicySettings, LabelNoiseSettings):
    """The options of `darc train rdpo`."""

    variant: Literal["sup", "unbiased"] = option(
        "sup",
        "which robust loss: the worst case over label smoothing (sup), or unbiased under flipped "
        "labels (unbiased)",
        common=True,
    )


class CautionModelSettings(TrainingSeedSettings, JsonSettings, CommandSettings):
    """The options of `darc train caution`."""

    subject: ClassVar[str] = "options"

    data: Path = same_option(
        PolicySettings,
        "data",
        default=...,
        text="a folder made by `darc run`, or JSON lines with prompt and response",
        metavar="SOURCE",
    )
    out: Path = same_option(
        OutSettings,
        "out",
        default=...,
        text="write the model to this file, which ends in .json, or folder (--form encoder)",
        subject="options",
    )
    form: Literal["classifier", "features", "encoder"] = option(
        "classifier",
        "what to fit: a classifier of the embedded features; a prediction of features, whose error "
        "counts; or a transformer encoder, written to a folder",
        common=True,
    )
    encoder: str | None = option(None, "the base model of --form encoder", "MODEL", common=True)
    target: str = option(
        "", "a reward model whose features --form features predicts", "MODEL", common=True
    )
    max_epochs: int = option(5, "the most passes over the data for --form encoder", "N", ge=1)


class HeadSettings(TextsSettings, SeedSettings, JsonSettings, CommandSettings):
    """The options of `darc train head`."""

    subject: ClassVar[str] = "options"

    pairs: Path = option(..., "pairs of answers, or ratings with texts", "PAIRS", positional=True)
    out: Path = same_option(
        OutSettings,
        "out",
        default=...,
        text="write the preference to this file, which ends in .npz",
        subject="options",
    )


class PresetListSettings(CommandSettings):
    """The options of `darc train presets`."""

    as_json: bool = same_option(JsonSettings, "as_json", text="print one JSON object per line")
