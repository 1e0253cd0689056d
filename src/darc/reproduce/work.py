"""How much work the tasks of an experiment are: an upper bound, by counting."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.reproduce.experiment import DEAL, Experiment
from darc.reproduce.tasks import Task

# Bytes of text per token, and of a score in a file.
_BYTES_PER_TOKEN = 5
_BYTES_PER_SCORE = 20
# How many rewrites are proposed at most for each that is wanted.
_ATTEMPTS = 4


@dataclass(frozen=True)
class Work:
    """What a task needs at most."""

    prompts: int = 0
    #: Tokens that a model writes.
    tokens: int = 0
    #: Texts that a model reads: those to score, and those to find side inputs of.
    texts: int = 0
    #: Bytes that are written.
    bytes: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            prompts=self.prompts + other.prompts,
            tokens=self.tokens + other.tokens,
            texts=self.texts + other.texts,
            bytes=self.bytes + other.bytes,
        )


def work_of(task: Task, experiment: Experiment) -> Work:
    """Count what a task needs at most.

    Args:
        task: The task.
        experiment: Its experiment.

    Returns:
        The work; nothing for steps that run no model, and for training, whose data are not known.
    """
    if task.pool is None or task.step in ("train", "evaluate", "tables"):
        return Work()
    prompts = units_of(task, experiment)
    k = experiment.sampling.k
    length = experiment.sampling.max_tokens
    if task.pool.source == DEAL:
        assert experiment.deal is not None
        k = 1
        length = experiment.deal.max_tokens
    answers = prompts * k
    n_aug = experiment.rewrites.n_aug
    if task.step == "generate":
        tokens = answers * length
        texts = 0
        if task.pool.source == DEAL:
            assert experiment.deal is not None
            texts = tokens * experiment.deal.k
            tokens *= experiment.deal.k * experiment.deal.lookahead + 1
        return Work(prompts, tokens, texts, answers * length * _BYTES_PER_TOKEN)
    if task.step == "rewrite":
        tokens = _rewritten_tokens(task, experiment, answers, n_aug, length)
        return Work(prompts, tokens, 0, answers * n_aug * length * _BYTES_PER_TOKEN)
    if task.step == "side":
        passes = 2
        if experiment.dropout is not None:
            passes += experiment.dropout.passes
        return Work(prompts, 0, answers * passes, answers * passes * _BYTES_PER_SCORE)
    if "n_aug" in task.settings:
        n_aug = task.settings["n_aug"]
        tokens = answers * length + _rewritten_tokens(task, experiment, answers, n_aug, length)
        texts = answers * (1 + n_aug)
        return Work(prompts, tokens, texts, answers * (1 + n_aug) * length * _BYTES_PER_TOKEN)
    texts = answers * (1 + n_aug) * len(task.settings["scorers"])
    return Work(prompts, 0, texts, texts * _BYTES_PER_SCORE)


def _rewritten_tokens(
    task: Task, experiment: Experiment, answers: int, n_aug: int, length: int
) -> int:
    """The tokens of all rewrites that may be proposed; rules need none."""
    rewriter = str(task.settings["rewrites"]["rewriter"])
    if not rewriter.startswith("llm"):
        return 0
    attempts = experiment.rewrites.max_attempts or _ATTEMPTS * n_aug
    return answers * attempts * length


def units_of(task: Task, experiment: Experiment) -> int:
    """How many prompts a task works on, 1 where they are not counted."""
    if task.pool is None:
        return 1
    if "latency_prompts" in task.settings:
        return int(task.settings["latency_prompts"])
    benchmark = experiment.benchmark(task.pool.benchmark)
    return benchmark.sample or benchmark.turns or 1


def total_work(tasks: Sequence[Task], experiment: Experiment) -> Work:
    """Add up the work of tasks."""
    total = Work()
    for task in tasks:
        total += work_of(task, experiment)
    return total
