"""What an experiment will need, said before it starts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from darc.reproduce.experiment import Experiment
from darc.reproduce.reproduction import Reproduction
from darc.reproduce.tasks import Task
from darc.reproduce.work import Work, total_work, units_of
from darc.settings.reproduce import StepName

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_STEPS: tuple[StepName, ...] = ("generate", "rewrite", "score", "side", "train", "evaluate")


@dataclass(frozen=True)
class StepPlan:
    """What is left of a step."""

    step: str
    tasks: int
    done: int
    work: Work
    #: Hours by the measured rate of tasks that are done, None where none was measured.
    hours: float | None


@dataclass(frozen=True)
class Plan:
    """What is left of an experiment."""

    steps: list[StepPlan]
    #: The models to download, with their size in bytes, 0 where it is not known.
    downloads: dict[str, int]
    #: What cannot be done, and why.
    left_out: list[str]

    @property
    def work(self) -> Work:
        """The work of all steps."""
        total = Work()
        for step in self.steps:
            total += step.work
        return total


def make_plan(reproduction: Reproduction, tasks: Sequence[Task]) -> Plan:
    """Count what is left of some tasks.

    Args:
        reproduction: The experiment in its folder.
        tasks: The tasks.

    Returns:
        The plan.
    """
    waiting = reproduction.unfinished(tasks)
    steps = []
    for step in _STEPS:
        all_of_step = [task for task in tasks if task.step == step]
        left = [task for task in waiting if task.step == step]
        if all_of_step:
            steps.append(
                StepPlan(
                    step=step,
                    tasks=len(left),
                    done=len(all_of_step) - len(left),
                    work=total_work(left, reproduction.experiment),
                    hours=_hours(reproduction, left, all_of_step),
                )
            )
    downloads = _downloads(reproduction.experiment, waiting)
    return Plan(steps, downloads, list(reproduction.tasks.left_out))


def _hours(
    reproduction: Reproduction, left: Sequence[Task], all_of_step: Sequence[Task]
) -> float | None:
    """The time of tasks by the measured rate of others of the same generator and source."""
    seconds = 0.0
    for task in left:
        rates = [
            rate
            for other in all_of_step
            if _is_alike(task, other)
            and (rate := reproduction.state.seconds_per_unit(other.name)) is not None
        ]
        if not rates:
            return None
        seconds += max(rates) * units_of(task, reproduction.experiment)
    return seconds / 3600


def _is_alike(task: Task, other: Task) -> bool:
    if task.pool is None or other.pool is None:
        return task.pool is None and other.pool is None
    return _likeness(task) == _likeness(other)


def _likeness(task: Task) -> tuple[object, ...]:
    """What tasks have in common that take as long per prompt."""
    assert task.pool is not None
    return task.pool.generator, task.pool.source, "latency_prompts" in task.settings


def _downloads(experiment: Experiment, waiting: Sequence[Task]) -> dict[str, int]:
    """The models of the hub that waiting tasks load and that are not on this machine."""
    generators = {task.pool.generator for task in waiting if task.pool is not None}
    sizes: dict[str, int] = {}
    scorer_names: set[str] = set()
    for generator in experiment.generators:
        if generator.name in generators:
            scorer_names |= set(generator.scorers)
            if generator.weights_name:
                sizes[generator.weights_name] = generator.download_bytes
    for model in experiment.reward_models:
        if model.name in scorer_names and model.is_local:
            sizes[model.model] = model.download_bytes
    caution = experiment.caution
    is_training = any(task.step == "train" for task in waiting)
    if caution is not None and caution.encoder and is_training:
        sizes[caution.encoder] = caution.download_bytes
    return {name: size for name, size in sizes.items() if not _is_here(name)}


def _is_here(name: str) -> bool:
    """Whether a model is a folder, no name of the hub, or in the cache of the hub."""
    if Path(name).exists() or not _HUB_NAME.fullmatch(name):
        return True
    if find_spec("huggingface_hub") is None:
        return False
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(name, "config.json"), str)


def plan_sentences(plan: Plan) -> list[str]:
    """What a plan says in words, one sentence each."""
    work = plan.work
    needs = f"{work.tokens:,} tokens to write, {work.texts:,} texts to score or read"
    sentences = [f"at most {needs}, {_size(work.bytes)} of results"]
    if plan.downloads:
        known = sum(plan.downloads.values())
        names = ", ".join(plan.downloads)
        sentences.append(f"downloads of {_size(known)}: {names}")
    else:
        sentences.append("nothing to download")
    sentences += plan.left_out
    return sentences


def _size(count: int) -> str:
    if count >= 10**9:
        return f"{count / 10**9:.1f} GB"
    return f"{count / 10**6:.1f} MB"
