"""`darc run`: answer a file of prompts, stage by stage, into a folder."""

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.choosing import note_wording
from darc.cli.commands import Command
from darc.cli.engines import make_engine, say_cost
from darc.cli.output import print_json, progress, say
from darc.cli.run_summary import print_summary
from darc.cli.toy_model import toy_model_note
from darc.errors import InputError
from darc.settings.run import RunCommandSettings, RunSettings
from darc.settings.run_file import write_run_file

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.runs.cluster import Cluster
    from darc.runs.folder import RunFolder
    from darc.runs.questions import Questions


def run(settings: RunCommandSettings) -> None:
    """Open the folder, run, and print the summary."""
    from darc.runs.folder import RunFolder
    from darc.runs.manifest import keep_calibration, make_manifest
    from darc.runs.questions import find_questions
    from darc.runs.summary import summarize_run

    workers = _worker_count(settings)
    _check_cluster(settings)
    settings = _with_given_answers(settings)
    questions = find_questions(settings.prompts, settings.sample, settings.seed)
    folder = RunFolder(settings.out)
    is_lazy = _is_lazy(settings)
    with make_engine(settings, workers=workers) as engine, closing(folder):
        if settings.caution is not None and engine.parts.panel is None:
            note_wording("rewrite")
        normalize = _normalize(settings, engine, folder)
        engine.method = replace(engine.method, normalize=normalize)
        # Refuses scorers that cannot be put on this scale, before anything is made.
        engine.method.scale(engine.tools.empty_scores((), 0), lazily=is_lazy)
        content = {**make_manifest(questions.digest, engine), "shard_size": settings.shard_size}
        folder.open(content, settings.restart)
        calibration = keep_calibration(folder, engine)
        settings = settings.model_copy(update={"normalize": normalize, "calibration": calibration})
        note = toy_model_note(settings.generator, "darc run ...")
        if note:
            say(note)
        say_cost(engine, engine.sampling.k, score_everything=not is_lazy)
        write_run_file(RunSettings, settings, settings.out / "run.toml")
        _run_stages(settings, engine, folder, questions, workers)
        totals = summarize_run(folder, engine.method)
    if settings.as_json:
        print_json({**totals, "folder": str(settings.out)})
    else:
        print_summary(totals)
    say(f"the run is in {settings.out}")


def _run_stages(
    settings: RunCommandSettings,
    engine: "Engine",
    folder: "RunFolder",
    questions: "Questions",
    workers: int,
) -> None:
    """Do all stages of all prompts, here or on Ray."""
    filling: dict[str, Any] = {
        "lazy": _is_lazy(settings),
        "keep": settings.keep,
        "pack": settings.compress,
    }
    with progress("", " prompts") as report:
        if settings.engine == "ray":
            from darc.runs.on_ray import run_on_ray

            recipe = _engine_recipe(settings, engine, workers)
            cluster = _cluster(settings, workers)
            run_on_ray(folder, questions, recipe, cluster, report, **filling)
        else:
            from darc.runs.run import run as run_here

            run_here(folder, questions, engine, **filling, report=report)


def _engine_recipe(settings: RunCommandSettings, engine: "Engine", workers: int) -> dict[str, Any]:
    """What another machine makes the same engine of."""
    return {
        "model": settings.generator,
        "settings": settings,
        "calibration": engine.method.calibrations,
        "workers": workers,
    }


def _is_lazy(settings: RunCommandSettings) -> bool:
    """Whether scores are left out: those that cannot matter, or grades not worth their price."""
    return (settings.lazy or settings.adaptive) and not settings.complete


def _worker_count(settings: RunCommandSettings) -> int:
    """How many processes rewrite and score: by default one per core, and none beside Ray's."""
    if settings.workers is not None:
        return settings.workers
    if settings.engine == "ray":
        return 0
    return os.cpu_count() or 1


def _with_given_answers(settings: RunCommandSettings) -> RunCommandSettings:
    """The settings with the answers of a folder in place of a model, where prompts is a folder."""
    from darc.runs.questions import EXAMPLES

    is_folder = settings.prompts != EXAMPLES and Path(settings.prompts).is_dir()
    usual_generator = RunSettings.model_fields["generator"].default
    if is_folder and settings.generator == usual_generator:
        return settings.model_copy(update={"generator": f"given:{settings.prompts}"})
    return settings


def _check_cluster(settings: RunCommandSettings) -> None:
    """Refuse options of a cluster that would have no effect."""
    ray_options = (settings.address, settings.ray_actors, settings.ray_gpus, settings.ray_cpus)
    if settings.engine != "ray" and any(ray_options):
        raise InputError(
            "--address, --ray-actors, --ray-cpus and --ray-gpus are for Ray", "add --engine ray"
        )
    if settings.ray_gpus and not settings.ray_actors:
        raise InputError("GPUs are held by actors", "say how many: --ray-actors N")


def _cluster(settings: RunCommandSettings, workers: int) -> "Cluster":
    """Where shards are worked on."""
    from darc.runs.cluster import Cluster

    cpus = settings.ray_cpus
    if cpus is None:
        cpus = max(1, workers)
    return Cluster(settings.address, cpus, settings.ray_gpus, settings.ray_actors)


def _normalize(settings: RunCommandSettings, engine: "Engine", folder: "RunFolder") -> str:
    """The scale of the scorers, fixed for a run so that completing a lazy one changes no choice."""
    if settings.normalize != "auto":
        return settings.normalize
    if settings.complete:
        return str(folder.manifest()["settings"]["decision"]["normalize"])
    scores = engine.tools.empty_scores((), 0)
    if len(scores.scorers) == 1:
        return "none"
    if _is_lazy(settings) and scores.constants is not None:
        return "fixed"
    return "prompt"


COMMAND = Command(RunCommandSettings, run, interrupted="go on with the same command")
