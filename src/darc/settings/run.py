"""The options of `darc run`."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.engine import ChoiceSettings, WorkerSettings
from darc.settings.general import CommandSettings, JsonSettings, OutSettings
from darc.settings.model import SettingsModel, option, same_option

Stage = Literal["candidates", "variants", "scores", "side", "decisions"]


class RunSettings(ChoiceSettings):
    """What a run is made of; its folder records it in `run.toml`."""

    prompts: str = option(
        ..., "the prompts, in one of the formats that `darc run --help` lists", "FILE", common=True
    )
    sample: int | None = option(
        None, "take only N of the prompts, drawn with --seed", "N", common=True, ge=1
    )


class ExtentSettings(SettingsModel):
    """How much of a run is made."""

    lazy: bool = option(
        False, "leave out scores that cannot change the decision", exclusive="extent", common=True
    )
    complete: bool = option(
        False,
        "make the scores that an earlier lazy run of this folder left out",
        exclusive="extent",
    )


class FileSettings(WorkerSettings):
    """What is kept, and how much at a time."""

    subject: ClassVar[str] = "files and processes"

    shard_size: int = option(
        1000,
        "how many prompts a shard has; a shard is held in memory, and done again as a whole if "
        "one of its files is damaged",
        "N",
        ge=1,
    )
    keep: Literal["all", "scores", "decisions"] = option(
        "all", "which files of a finished shard to keep"
    )
    compress: bool = option(False, "compress the files of finished shards (zstd)")


class ClusterSettings(SettingsModel):
    """Where shards are worked on."""

    subject: ClassVar[str] = "a cluster"

    engine: Literal["local", "ray"] = option(
        "local", "what works on the shards: this process, or Ray workers that share the folder"
    )
    address: str | None = option(
        None, "address of the Ray cluster (default: RAY_ADDRESS, or this machine)", "ADDRESS"
    )
    ray_actors: int = option(
        0,
        "use N long-lived workers that keep their models, instead of as many tasks as there are "
        "CPUs",
        "N",
        ge=0,
    )
    ray_cpus: float | None = option(
        None,
        "how many CPUs each worker takes, such as 0.5 for one that waits for servers (default: "
        "--workers)",
        "CPUS",
        gt=0,
        allow_inf_nan=False,
    )
    ray_gpus: float = option(
        0.0, "how many GPUs each worker takes (needs --ray-actors)", "GPUS", ge=0
    )


class RunCommandSettings(
    RunSettings, ExtentSettings, FileSettings, ClusterSettings, JsonSettings, CommandSettings
):
    """The options of `darc run`."""

    out: Path = same_option(
        OutSettings,
        "out",
        default=...,
        text="the folder of the run; give the same one to go on with a run",
        metavar="FOLDER",
        subject="options",
    )
    restart: Stage | None = option(
        None,
        "do this stage and the later ones again; without it, finished stages are kept",
        flag="--from",
    )
