"""A rehearsal: the same experiment on tiny models and few prompts, whose numbers mean nothing."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.statistics.draws import prompt_seeds
from darc.files import atomic_writer
from darc.models.installed import require
from darc.ratings.load import load_table
from darc.ratings.ratings import Ratings
from darc.reproduce.experiment import (
    BenchmarkConfig,
    Experiment,
    GeneratorConfig,
    RewardModelConfig,
)
from darc.reproduce.folder import ExperimentFolder
from darc.reproduce.names import PoolName, folder_name
from darc.reproduce.pools import StoredPool
from darc.reproduce.tiny_models import make_chat_model, make_encoder, make_reward_model
from darc.runs.questions import EXAMPLES, find_questions

# Rules that tune themselves need at least ten.
_PROMPTS = 12
_RATERS = 5
# The first question id of MT-Bench.
_FIRST_ID = 81
_FAMILIES = ("Llama", "Qwen2")
_EMBEDDED = "embedded"
_TRAINING = {"epochs": 1.0, "steps": 2, "accumulation": 1, "batch": 2, "every": 2}


def rehearsal_of(experiment: Experiment, folder: ExperimentFolder) -> Experiment:
    """Replace what is large in an experiment.

    The last generator that is not trained becomes the embedded model, whose answers an LLM
    rewrites; all others, and the reward models, become random models of two layers.

    Args:
        experiment: The experiment.
        folder: Where the tiny models and prompts are written.

    Returns:
        An experiment with the same names, steps and tables.

    Raises:
        InputError: The embedded model is not installed.
        MissingExtra: torch is not installed.
    """
    require()
    models = folder.path / "models"
    changes: dict[str, Any] = {
        "name": f"{experiment.name} (rehearsal)",
        "note": "A rehearsal on random models, few prompts and random ratings: no number means "
        "anything.",
        "sampling": experiment.sampling.model_copy(update={"k": 3, "max_tokens": 24}),
        "rewrites": experiment.rewrites.model_copy(
            update={"n_aug": 4, "max_attempts": 4, "rewriter": "rules"}
        ),
        "generators": tuple(
            _tiny_generator(generator, place, models)
            for place, generator in enumerate(experiment.generators)
        ),
        "benchmarks": tuple(
            _short_benchmark(benchmark, place, folder)
            for place, benchmark in enumerate(experiment.benchmarks)
        ),
        "reward_models": tuple(
            _tiny_reward_model(model, place, models)
            for place, model in enumerate(experiment.reward_models)
        ),
        "evaluation": experiment.evaluation.model_copy(update={"splits": 4, "draws": 200}),
    }
    if experiment.caution is not None:
        encoder = make_encoder(models / "encoder", seed=50)
        changes["caution"] = experiment.caution.model_copy(
            update={"encoder": encoder, "max_epochs": 1, "download_bytes": 0}
        )
    if experiment.deal is not None:
        changes["deal"] = experiment.deal.model_copy(
            update={"k": 2, "lookahead": 2, "max_tokens": 24, "reward_tokens": 64}
        )
    if experiment.training is not None:
        changes["training"] = experiment.training.model_copy(
            update={"data": "", "preset": "cpu-small", "recipe": _TRAINING, "held_out": 0.3}
        )
    if experiment.human is not None:
        stress = _write_stress_slice(folder)
        changes["human"] = experiment.human.model_copy(
            update={"ratings": {}, "simulated": True, "stress": stress}
        )
    if experiment.latency is not None:
        changes["latency"] = experiment.latency.model_copy(update={"prompts": 2})
    return experiment.model_copy(update=changes)


def _tiny_generator(generator: GeneratorConfig, place: int, models: Path) -> GeneratorConfig:
    changes: dict[str, Any] = {"weights": "", "download_bytes": 0}
    if generator.full:
        path = models / folder_name(generator.name)
        changes["model"] = make_chat_model(path, place, _FAMILIES[place % len(_FAMILIES)])
    else:
        changes["model"] = _EMBEDDED
        changes["rewriter"] = "llm"
    return generator.model_copy(update=changes)


def _tiny_reward_model(model: RewardModelConfig, place: int, models: Path) -> RewardModelConfig:
    path = models / folder_name(model.name)
    if place == 0:
        folder = make_reward_model(path, 20 + place)
    else:
        folder = make_encoder(path, 20 + place)
    return model.model_copy(update={"model": folder, "max_length": 256, "download_bytes": 0})


def _short_benchmark(
    benchmark: BenchmarkConfig, place: int, folder: ExperimentFolder
) -> BenchmarkConfig:
    """A few of the prompts that come with DARC; a benchmark that has turns gets two each."""
    questions = list(find_questions(EXAMPLES))
    texts = [question.turns[0] for question in questions[place * _PROMPTS :][:_PROMPTS]]
    path = folder.prompts(benchmark.name, ".jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]]
    if benchmark.turns % 2 == 0 and benchmark.turns:
        pairs = zip(texts[::2], texts[1::2], strict=True)
        rows = [
            {"question_id": _FIRST_ID + number, "category": "writing", "turns": list(turns)}
            for number, turns in enumerate(pairs)
        ]
    else:
        rows = [{"instruction": text, "dataset": "helpful_base"} for text in texts]
    with atomic_writer(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return benchmark.model_copy(update={"prompts": str(path), "turns": len(texts), "sample": None})


def _write_stress_slice(folder: ExperimentFolder) -> Path:
    """A file of prompt ids: the first three questions with both of their turns."""
    path = folder.path / "stress.txt"
    ids = [f"{_FIRST_ID + number}{turn}" for number in range(3) for turn in ("", "#2")]
    with atomic_writer(path) as file:
        file.write("\n".join(ids) + "\n")
    return path


def simulated_ratings(folder: ExperimentFolder, pool: PoolName, name: str) -> Ratings:
    """Ratings from 0 to 10 drawn at random, for the candidates of a pool.

    Args:
        folder: The folder of the experiment.
        pool: The pool.
        name: What reports call the ratings.

    Returns:
        The ratings of five raters.
    """
    stored = StoredPool(folder.pool(pool))
    rows = []
    for question in stored.questions:
        for candidate in stored.candidates(question.id):
            (seed,) = prompt_seeds(candidate.index, [question.id])
            draws = np.random.default_rng(int(seed))
            centre = draws.uniform(4, 8)
            ratings = np.clip(np.round(draws.normal(centre, 1.5, _RATERS)), 0, 10)
            for rater, rating in enumerate(ratings, 1):
                rows.append(
                    {
                        "prompt_id": question.id,
                        "candidate_id": candidate.id,
                        "rater_id": f"rater {rater}",
                        "rating": float(rating),
                    }
                )
    return replace(load_table(rows), name=name)
