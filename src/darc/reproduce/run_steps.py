"""The steps that are done in run folders: generate, rewrite, score, side inputs, timed runs."""

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from darc.engine.engine import Engine
from darc.parts.generators.deal import DealGenerator
from darc.registry import scorers
from darc.reproduce.experiment import BASE, DEAL, Experiment, GeneratorConfig
from darc.reproduce.folder import ExperimentFolder
from darc.reproduce.names import PoolName
from darc.reproduce.pools import NoScores, StoredPool
from darc.reproduce.prompt_files import read_questions
from darc.reproduce.tasks import Task, rewriter_of
from darc.runs.folder import RunFolder
from darc.runs.manifest import make_manifest
from darc.runs.questions import Question
from darc.runs.run import WINDOW, run

#: Told of prompts that are done, as report(stage, done, total).
Report = Callable[[str, int, int], None]

# How many prompts a shard has: a damaged file costs the work of one shard.
_SHARD_SIZE = 50
_LOG_LIKELIHOOD_TOKENS = 1024
_RULE = "mean"


class RunSteps:
    """Does the steps of an experiment that end in run folders.

    Args:
        experiment: The experiment.
        folder: Its folder.
        report: Told of progress.
    """

    def __init__(self, experiment: Experiment, folder: ExperimentFolder, report: Report) -> None:
        self._experiment = experiment
        self._folder = folder
        self._report = report

    def generate(self, task: Task) -> None:
        """Write the candidates of a pool."""
        pool = _pool_of(task)
        experiment = self._experiment
        benchmark = experiment.benchmark(pool.benchmark)
        questions = read_questions(benchmark, self._folder, experiment.seed)
        sampling = experiment.sampling.model_dump()
        if pool.source == DEAL:
            assert experiment.deal is not None
            sampling |= {"k": 1, "max_tokens": experiment.deal.max_tokens}
        engine = Engine(
            self._generator(pool),
            scorers=[NoScores()],
            rewriter="rules",
            n_aug=0,
            rule=_RULE,
            seed=experiment.seed,
            **sampling,
        )
        path = self._folder.pool(pool)
        self._run(path, questions, questions.digest, engine, "candidates")

    def rewrite(self, task: Task) -> None:
        """Rewrite the candidates of a pool."""
        options = {"scorers": [NoScores()]}
        self._run_stored(task, "variants", options)

    def score(self, task: Task) -> None:
        """Score the candidates of a pool and their rewrites, or make a timed run."""
        if "latency_prompts" in task.settings:
            self._time(task)
            return
        self._run_stored(task, "scores", {"scorers": task.settings["scorers"]})

    def side(self, task: Task) -> None:
        """Compute the side inputs of a pool's candidates."""
        generator = self._experiment.generator(_pool_of(task).generator)
        scorer_texts = [self._experiment.reward_model(name).spec for name in generator.scorers]
        options = {"scorers": scorer_texts, "side": self._side_texts(task, generator)}
        self._run_stored(task, "side", options)

    def _run_stored(self, task: Task, stage: str, options: dict[str, Any]) -> None:
        """Go on with the run of a stored pool up to a stage."""
        pool = _pool_of(task)
        experiment = self._experiment
        stored = StoredPool(self._folder.pool(pool))
        family = task.family or experiment.rewrites.family
        engine = Engine(
            stored,
            rule=_RULE,
            k=experiment.sampling.k,
            seed=experiment.seed,
            **self._rewrite_options(pool, family),
            **options,
        )
        path = self._folder.run(pool, family, experiment.rewrites.family)
        self._run(path, stored.questions, stored.digest, engine, stage)

    def _time(self, task: Task) -> None:
        """Make one run of the latency table, one prompt at a time."""
        pool = _pool_of(task)
        experiment = self._experiment
        benchmark = experiment.benchmark(pool.benchmark)
        questions = read_questions(benchmark, self._folder, experiment.seed)
        first_questions = list(islice(questions, task.settings["latency_prompts"]))
        options = self._rewrite_options(pool, experiment.rewrites.family)
        options["n_aug"] = task.settings["n_aug"]
        engine = Engine(
            self._generator(pool),
            rule=_RULE,
            scorers=[task.settings["scorer"]],
            seed=experiment.seed,
            **experiment.sampling.model_dump(),
            **options,
        )
        path = self._folder.timed(task.settings["n_aug"])
        self._run(path, first_questions, questions.digest, engine, "candidates", window=1)

    def _rewrite_options(self, pool: PoolName, family: str) -> dict[str, Any]:
        rewrites = self._experiment.rewrites
        generator = self._experiment.generator(pool.generator)
        return {
            "rewriter": rewriter_of(self._experiment, generator),
            "n_aug": rewrites.n_aug,
            "max_attempts": rewrites.max_attempts,
            "acceptance": rewrites.acceptance,
            "family": family,
        }

    def _generator(self, pool: PoolName) -> Any:
        """What writes the candidates of a source."""
        experiment = self._experiment
        generator = experiment.generator(pool.generator)
        if pool.source == BASE:
            return generator.spec
        if pool.source == DEAL:
            deal = experiment.deal
            assert deal is not None
            reward = experiment.reward_model(generator.scorers[0])
            short_reward = reward.model_copy(update={"max_length": deal.reward_tokens})
            options = deal.model_dump()
            return DealGenerator(
                generator.weights_name, reward=scorers.make(short_reward.spec), **options
            )
        return f"transformers:{self._folder.policy(pool.generator, pool.source)}"

    def _side_texts(self, task: Task, generator: GeneratorConfig) -> dict[str, str]:
        """The scorers of side inputs, by name."""
        texts = {}
        dropout = self._experiment.dropout
        if dropout is not None and "dropout" in task.settings:
            reward = self._experiment.reward_model(generator.scorers[0])
            texts["dropout"] = (
                f"dropout:{reward.model},passes={dropout.passes},rate={dropout.rate:g},"
                f"max_length={reward.max_length}"
            )
        if "log_likelihood" in task.settings:
            texts["log_likelihood"] = (
                f"loglik:{generator.weights_name},max_length={_LOG_LIKELIHOOD_TOKENS}"
            )
        if "atypicality" in task.settings:
            texts["atypicality"] = f"caution:{caution_model(self._folder)}"
        return texts

    def _run(
        self,
        path: Path,
        questions: Iterable[Question],
        digest: str,
        engine: Engine,
        stage: str,
        window: int = WINDOW,
    ) -> None:
        """Begin a run, or go on with it; its stages before this one are kept."""
        folder = RunFolder(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with engine, closing(folder):
            content = {**make_manifest(digest, engine), "shard_size": _SHARD_SIZE}
            restart = None
            if _is_other_run(folder, content["settings"]):
                restart = stage
            folder.open(content, restart)
            run(folder, questions, engine, window=window, report=self._report)


def caution_model(folder: ExperimentFolder) -> Path:
    """The model of atypical answers: a folder for an encoder, otherwise a file."""
    file = folder.caution / "model.json"
    if (folder.caution / "encoder").is_dir():
        return folder.caution
    return file


def _is_other_run(folder: RunFolder, settings: dict[str, Any]) -> bool:
    """Whether a folder holds a run with other settings."""
    if not (folder.path / "manifest.json").exists():
        return False
    old = folder.manifest()["settings"]
    return json.dumps(old, sort_keys=True) != json.dumps(settings, sort_keys=True)


def _pool_of(task: Task) -> PoolName:
    assert task.pool is not None
    return task.pool
