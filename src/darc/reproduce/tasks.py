"""The tasks of an experiment in the order in which they are done, and what each depends on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from darc.errors import InputError
from darc.files import file_sha256
from darc.reproduce.experiment import BASE, DEAL, Experiment, GeneratorConfig
from darc.reproduce.names import PoolName
from darc.reproduce.state import inputs_hash
from darc.settings.reproduce import StepName

CAUTION = "caution"
#: The evaluation of choices by several scorers.
SCORERS = "scorers"


@dataclass(frozen=True)
class Task:
    """A piece of work that is done as a whole or not at all."""

    step: StepName
    name: str
    #: The names of the tasks whose results it uses.
    after: tuple[str, ...]
    #: What its results depend on, of plain values.
    settings: dict[str, Any]
    #: What it works on: the pool, if it is about one.
    pool: PoolName | None = None
    #: The pool's family of rewrites.
    family: str = ""
    #: A hash of its settings and of the tasks before it.
    inputs: str = field(default="", compare=False)


class TaskList:
    """The tasks of an experiment.

    Args:
        experiment: The experiment.
    """

    def __init__(self, experiment: Experiment) -> None:
        #: The experiment.
        self.experiment = experiment
        self._tasks: dict[str, Task] = {}
        #: What cannot be done, and why.
        self.left_out: list[str] = []
        self._add_all()

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    def __getitem__(self, name: str) -> Task:
        return self._tasks[name]

    def __contains__(self, name: str) -> bool:
        return name in self._tasks

    def needed_for(self, names: Iterable[str]) -> list[Task]:
        """The tasks of these names and all that they use, in order."""
        needed: set[str] = set()
        waiting = [name for name in names if name in self._tasks]
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self._tasks[name].after
        return [task for task in self._tasks.values() if task.name in needed]

    def of_step(self, step: str) -> list[Task]:
        """The tasks of a step, in order."""
        return [task for task in self._tasks.values() if task.step == step]

    def _add(self, task: Task) -> None:
        missing = [name for name in task.after if name not in self._tasks]
        if missing:
            raise InputError(f"{task.name} comes before {missing[0]}", "order the tasks")
        before = [self._tasks[name].inputs for name in task.after]
        inputs = inputs_hash(task.settings, before)
        self._tasks[task.name] = Task(
            step=task.step,
            name=task.name,
            after=task.after,
            settings=task.settings,
            pool=task.pool,
            family=task.family,
            inputs=inputs,
        )

    def _add_all(self) -> None:
        experiment = self.experiment
        for pool in self._pools((BASE, DEAL)):
            self._add_pool(pool)
        self._add_families()
        self._add_training()
        for pool in self._pools([policy.name for policy in experiment.policies]):
            if f"train {pool.generator} {pool.source}" in self._tasks:
                self._add_pool(pool)
        for pool in self._pools((BASE,)):
            self._add_side(pool)
        self._add_latency()
        self._add_evaluations()

    def _pools(self, sources: Sequence[str]) -> list[PoolName]:
        """The pools of some sources that can be made."""
        pools = []
        for source in sources:
            for generator in self.experiment.generators:
                if source == BASE or self._can_load(generator, source):
                    pools += [
                        PoolName(generator.name, benchmark, source)
                        for benchmark in generator.benchmarks
                    ]
        return pools

    def _can_load(self, generator: GeneratorConfig, source: str) -> bool:
        """Whether the weights of a generator are there for DeAL and training."""
        if not generator.full or (source == DEAL and self.experiment.deal is None):
            return False
        if not generator.weights_name:
            reason = f"{source} of {generator.name} is left out: it needs weights"
            if reason not in self.left_out:
                self.left_out.append(reason)
            return False
        return True

    def _add_pool(self, pool: PoolName) -> None:
        """Add the writing, rewriting and scoring of a pool."""
        experiment = self.experiment
        generator = experiment.generator(pool.generator)
        settings: dict[str, Any] = {
            "generator": generator.spec,
            "prompts": experiment.benchmark(pool.benchmark).model_dump(mode="json"),
            "sampling": experiment.sampling.model_dump(mode="json"),
            "seed": experiment.seed,
        }
        after: tuple[str, ...] = ()
        if pool.source == DEAL:
            assert experiment.deal is not None
            settings["deal"] = experiment.deal.model_dump(mode="json")
            settings["reward"] = experiment.reward_model(generator.scorers[0]).spec
        elif pool.source != BASE:
            after = (f"train {pool.generator} {pool.source}",)
        self._add(Task("generate", f"generate {pool}", after, settings, pool))
        self._add_samples(pool, experiment.rewrites.family)

    def _add_samples(self, pool: PoolName, family: str) -> None:
        """Add the rewriting and scoring of a pool by one family."""
        experiment = self.experiment
        generator = experiment.generator(pool.generator)
        ending = pool.with_family(family, experiment.rewrites.family)
        rewrites = experiment.rewrites.model_dump(mode="json", exclude={"families"})
        rewrites["family"] = family
        rewrites["rewriter"] = rewriter_of(experiment, generator)
        self._add(
            Task(
                "rewrite",
                f"rewrite {ending}",
                (f"generate {pool}",),
                {"rewrites": rewrites, "seed": experiment.seed},
                pool,
                family,
            )
        )
        scorers = [experiment.reward_model(name).spec for name in generator.scorers]
        self._add(
            Task(
                "score",
                f"score {ending}",
                (f"rewrite {ending}",),
                {"scorers": scorers},
                pool,
                family,
            )
        )

    def _add_families(self) -> None:
        """Add the other families of the pool that people rated."""
        experiment = self.experiment
        if experiment.human is None or not experiment.has_ratings:
            return
        pool = PoolName(experiment.human.generator, experiment.human.benchmark, BASE)
        for family in experiment.rewrites.families:
            if family != experiment.rewrites.family:
                self._add_samples(pool, family)

    def _add_training(self) -> None:
        experiment = self.experiment
        training = experiment.training
        if training is None:
            return
        settings: dict[str, Any] = {
            "training": training.model_dump(mode="json"),
            "seed": experiment.seed,
        }
        first = experiment.generators[0]
        if experiment.caution is not None:
            after = self._data_tasks(first)
            model = {"caution": experiment.caution.model_dump(mode="json")}
            self._add(Task("train", f"train {CAUTION}", after, settings | model))
        for generator in experiment.generators:
            for policy in experiment.policies:
                if self._can_load(generator, policy.name):
                    self._add(
                        Task(
                            "train",
                            f"train {generator.name} {policy.name}",
                            self._data_tasks(generator),
                            settings
                            | {
                                "policy": policy.model_dump(mode="json"),
                                "weights": generator.weights_name,
                            },
                        )
                    )

    def _data_tasks(self, generator: GeneratorConfig) -> tuple[str, ...]:
        """The tasks that training data are made of; none if they are given."""
        assert self.experiment.training is not None
        if self.experiment.training.data:
            return ()
        return tuple(
            f"score {PoolName(generator.name, benchmark, BASE)}"
            for benchmark in generator.benchmarks
        )

    def _add_side(self, pool: PoolName) -> None:
        experiment = self.experiment
        generator = experiment.generator(pool.generator)
        if not generator.full:
            return
        settings: dict[str, Any] = {}
        after = [f"score {pool}"]
        reward = experiment.reward_model(generator.scorers[0])
        if experiment.dropout is not None and not reward.is_local:
            self.left_out.append(
                f"MC-Dropout of {generator.name} is left out: {reward.name} is not loaded here"
            )
        elif experiment.dropout is not None:
            settings["dropout"] = experiment.dropout.model_dump(mode="json")
            settings["dropout_model"] = reward.spec
        if generator.weights_name:
            settings["log_likelihood"] = generator.weights_name
        else:
            self.left_out.append(f"RBoN of {generator.name} is left out: it needs weights")
        if f"train {CAUTION}" in self._tasks:
            settings["atypicality"] = CAUTION
            after.append(f"train {CAUTION}")
        self._add(Task("side", f"side {pool}", tuple(after), settings, pool))

    def _add_latency(self) -> None:
        latency = self.experiment.latency
        if latency is None:
            return
        generator = self.experiment.generator(latency.generator)
        pool = PoolName(latency.generator, latency.benchmark, BASE)
        scorer = self.experiment.reward_model(generator.scorers[0]).spec
        generate = self._tasks[f"generate {pool}"]
        rewrites = self._tasks[f"rewrite {pool}"]
        for count in latency.n_aug:
            settings = {
                **generate.settings,
                **rewrites.settings,
                "scorer": scorer,
                "n_aug": count,
                "latency_prompts": latency.prompts,
            }
            self._add(Task("score", f"time {pool} N_aug {count}", (), settings, pool))

    def _add_evaluations(self) -> None:
        """Add the evaluation of each generator on each benchmark."""
        experiment = self.experiment
        settings: dict[str, Any] = {
            "evaluation": experiment.evaluation.model_dump(mode="json"),
            "methods": [method.model_dump(mode="json") for method in experiment.methods],
            "seed": experiment.seed,
        }
        for generator in experiment.generators:
            for benchmark in generator.benchmarks:
                self._add_evaluation(PoolName(generator.name, benchmark, BASE), settings)

    def _add_evaluation(self, pool: PoolName, settings: dict[str, Any]) -> None:
        """Add the evaluations of the base, of each source beside it, and of several scorers."""
        experiment = self.experiment
        if is_human_cell(experiment, *pool.cell):
            assert experiment.human is not None
            human = experiment.human
            # Other ratings in the same file are another input.
            hashes = [file_sha256(path) for path in human.files if path.is_file()]
            settings = settings | {"human": human.model_dump(mode="json"), "files": hashes}
        base_tasks = tuple(
            task.name
            for task in self._tasks.values()
            if task.pool == pool
            and task.step in ("score", "side")
            and "latency_prompts" not in task.settings
        )
        cell = PoolName(*pool.cell)
        self._add_kind(f"evaluate {cell}", base_tasks, settings, pool, BASE)
        for source in (DEAL, *(policy.name for policy in experiment.policies)):
            score = f"score {PoolName(*pool.cell, source)}"
            if score in self._tasks:
                after = (f"score {pool}", score)
                self._add_kind(f"evaluate {cell} / {source}", after, settings, pool, source)
        if len(experiment.generator(pool.generator).scorers) > 1:
            name = f"evaluate {cell} / {SCORERS}"
            self._add_kind(name, (f"score {pool}",), settings, pool, SCORERS)

    def _add_kind(
        self,
        name: str,
        after: tuple[str, ...],
        settings: dict[str, Any],
        pool: PoolName,
        kind: str,
    ) -> None:
        self._add(Task("evaluate", name, after, settings | {"kind": kind}, pool))


def is_human_cell(experiment: Experiment, generator: str, benchmark: str) -> bool:
    """Whether people rated the answers of a generator to a benchmark."""
    human = experiment.human
    if human is None or not experiment.has_ratings:
        return False
    return (human.generator, human.benchmark) == (generator, benchmark)


def rewriter_of(experiment: Experiment, generator: GeneratorConfig) -> str:
    """The rewriter of a generator's answers as `darc rewriters` lists them."""
    text = generator.rewriter or experiment.rewrites.rewriter
    if text == "llm":
        return f"llm:{generator.chat_model}"
    return text
