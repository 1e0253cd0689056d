"""The step that trains: policies from preference pairs, and the model of atypical answers."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from darc.analysis.run_ratings import load_run
from darc.errors import InputError
from darc.files import atomic_writer
from darc.parts.scorers.caution_models import write_model
from darc.reproduce.experiment import BASE, Experiment, GeneratorConfig, PolicyConfig
from darc.reproduce.folder import ExperimentFolder
from darc.reproduce.names import PoolName
from darc.reproduce.tasks import CAUTION, Task
from darc.settings.pairs import PairSettings
from darc.train.caution import fit_classifier
from darc.train.caution_encoder import fit_encoder
from darc.train.dpo import train
from darc.train.examples import read_examples
from darc.train.losses import Loss
from darc.train.pairs import make_pairs
from darc.train.preferences import Row, read_preferences, split
from darc.train.recipe import PRESETS, TrainingRecipe

#: Told of steps that are done, and of all steps.
Report = Callable[[int, int], None]
Tell = Callable[[str], None]


class TrainSteps:
    """Trains what an experiment needs.

    Args:
        experiment: The experiment.
        folder: Its folder.
        report: Told of progress.
        tell: Called with a sentence as each stage begins.
    """

    def __init__(
        self, experiment: Experiment, folder: ExperimentFolder, report: Report, tell: Tell
    ) -> None:
        self._experiment = experiment
        self._folder = folder
        self._report = report
        self._tell = tell

    def train(self, task: Task) -> None:
        """Train a policy, or the model of atypical answers."""
        if task.name == f"train {CAUTION}":
            self._train_caution()
            return
        policy = PolicyConfig.model_validate(task.settings["policy"])
        generator = next(
            generator
            for generator in self._experiment.generators
            if task.name == f"train {generator.name} {policy.name}"
        )
        self._train_policy(generator, policy)

    def _train_policy(self, generator: GeneratorConfig, policy: PolicyConfig) -> None:
        training = self._experiment.training
        assert training is not None
        recipe = policy_recipe(self._experiment, generator.weights_name)
        rows, held_out = split(self._pairs(generator), training.held_out, recipe.seed)
        train(
            rows,
            held_out,
            recipe,
            Loss(policy.loss, policy.label_noise),
            self._folder.policy(generator.name, policy.name),
            self._report,
            self._tell,
        )

    def _train_caution(self) -> None:
        caution = self._experiment.caution
        assert caution is not None
        rows = self._pairs(self._experiment.generators[0])
        path = self._folder.pairs("typical")
        _write_lines(path, map(_typical_answer, rows))
        pairs = read_examples(path)
        seed = self._experiment.seed
        out = self._folder.caution
        if caution.encoder:
            fit_encoder(
                pairs, caution.encoder, out, seed=seed, epochs=caution.max_epochs, tell=self._tell
            )
            return
        model = fit_classifier(pairs, seed, tell=self._tell)
        out.mkdir(parents=True, exist_ok=True)
        write_model(model, out / "model.json")

    def _pairs(self, generator: GeneratorConfig) -> list[Row]:
        """The preference pairs that are given, or those of the scores of a generator's pools."""
        training = self._experiment.training
        assert training is not None
        if training.data:
            return read_preferences(training.data)
        path = self._folder.pairs(f"pairs {generator.name}")
        if not path.is_file():
            rows = [
                row
                for benchmark in generator.benchmarks
                for row in self._pool_pairs(PoolName(generator.name, benchmark, BASE))
            ]
            if not rows:
                raise InputError(
                    f"the answers of {generator.name} make no pair", "give [training] its data"
                )
            _write_lines(path, rows)
        return read_preferences(str(path))

    def _pool_pairs(self, pool: PoolName) -> Iterable[Row]:
        family = self._experiment.rewrites.family
        ratings = load_run(self._folder.run(pool, family, family)).with_scorers([0])
        counts = dict.fromkeys(("pairs", "prompts", "contentious", "without"), 0)
        return make_pairs(ratings.samples, ratings.questions, ratings.texts, PairSettings(), counts)


def policy_recipe(experiment: Experiment, model: str) -> TrainingRecipe:
    """How the policies of an experiment are trained.

    Args:
        experiment: The experiment, which has a section for training.
        model: The weights to start from.

    Returns:
        The recipe.

    Raises:
        InputError: A number of the recipe is unknown or out of range.
    """
    training = experiment.training
    assert training is not None
    changes = {**training.recipe, "model": model, "seed": experiment.seed}
    return PRESETS[training.preset].changed(**changes)


def _write_lines(path: Path, rows: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_writer(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _typical_answer(row: Row) -> dict[str, Any]:
    """The prompt and the chosen answer of a pair."""
    chosen = row["chosen"]
    if isinstance(chosen, str):
        return {"prompt": row.get("prompt", ""), "response": chosen}
    prompt = row.get("prompt") or chosen[:-1]
    return {"prompt": prompt, "response": chosen[-1]["content"]}
