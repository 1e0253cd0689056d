"""An experiment that is done task by task, and goes on where it was stopped."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from darc.errors import InputError
from darc.reproduce.evaluate_step import EvaluateStep
from darc.reproduce.experiment import Experiment
from darc.reproduce.folder import ExperimentFolder
from darc.reproduce.prompt_files import check_prompts
from darc.reproduce.run_steps import RunSteps
from darc.reproduce.state import DoneTask, State
from darc.reproduce.tasks import Task, TaskList
from darc.reproduce.train_steps import TrainSteps, policy_recipe
from darc.reproduce.work import units_of
from darc.train.machine import check_training

#: Told of progress, as report(what, done, total).
Report = Callable[[str, int, int | None], None]
Tell = Callable[[str], None]


class Reproduction:
    """Does the tasks of an experiment in its folder.

    Args:
        experiment: The experiment.
        path: The folder, which is made if necessary.
        report: Told of progress.
        tell: Called with a sentence as each task begins.
    """

    def __init__(self, experiment: Experiment, path: Path, report: Report, tell: Tell) -> None:
        self.experiment = experiment
        self.folder = ExperimentFolder(path)
        self.tasks = TaskList(experiment)
        path.mkdir(parents=True, exist_ok=True)
        self.state = State(path)
        self._report = report
        self._tell = tell

    def unfinished(self, tasks: Sequence[Task]) -> list[Task]:
        """Those of some tasks that are not done yet."""
        return [task for task in tasks if not self.state.is_done(task.name, task.inputs)]

    def check_ready(self, tasks: Sequence[Task]) -> None:
        """Refuse tasks whose inputs are not there.

        Raises:
            InputError: A task uses the results of one that is neither done nor among them.
        """
        names = {task.name for task in tasks}
        for task in tasks:
            for name in task.after:
                before = self.tasks[name]
                if name not in names and not self.state.is_done(name, before.inputs):
                    raise InputError(
                        f"{task.name} needs {name}, which is not done",
                        f"do it first: --step {before.step}",
                    )

    def check_machine(self, tasks: Sequence[Task]) -> None:
        """Refuse before anything starts what would fail after hours.

        Args:
            tasks: The tasks to do.

        Raises:
            InputError: A file of the experiment is missing.
            MissingExtra: An optional dependency is not installed.
            DarcError: The machine cannot train the policies.
        """
        experiment = self.experiment
        waiting = self.unfinished(tasks)
        for benchmark in experiment.benchmarks:
            check_prompts(benchmark)
        if experiment.human is not None:
            for path in experiment.human.files:
                if not path.is_file():
                    raise InputError(f"there is no file {path}", "check [human]")
        for task in waiting:
            if "policy" in task.settings:
                check_training(policy_recipe(experiment, task.settings["weights"]))

    def do(self, tasks: Sequence[Task]) -> int:
        """Do the tasks that are not done yet, in order.

        Returns:
            How many were done.
        """
        waiting = self.unfinished(tasks)
        for number, task in enumerate(waiting, 1):
            self._tell(f"{number} of {len(waiting)}: {task.name}")
            started = time.monotonic()
            self._do_task(task)
            seconds = time.monotonic() - started
            units = units_of(task, self.experiment)
            self.state.add(task.name, DoneTask(task.inputs, round(seconds, 3), units))
        return len(waiting)

    def _do_task(self, task: Task) -> None:
        runs = RunSteps(self.experiment, self.folder, self._run_report(task))

        def counts(done: int, total: int | None) -> None:
            self._report(task.name, done, total)

        trainer = TrainSteps(self.experiment, self.folder, counts, self._tell)
        evaluator = EvaluateStep(self.experiment, self.folder, counts)
        actions: dict[str, Callable[[Task], None]] = {
            "generate": runs.generate,
            "rewrite": runs.rewrite,
            "score": runs.score,
            "side": runs.side,
            "train": trainer.train,
            "evaluate": evaluator.evaluate,
        }
        actions[task.step](task)

    def _run_report(self, task: Task) -> Callable[[str, int, int], None]:
        """A report that says once how long the rest of a task takes, after its first prompts."""
        clock = _FirstBatch(task.name, self._tell)

        def report(stage: str, done: int, total: int) -> None:
            clock.count(done, total)
            self._report(task.name, done, total)

        return report


class _FirstBatch:
    """Says how long a task takes, once some of it has been timed."""

    # Shorter tasks are not worth a sentence.
    _MIN_SECONDS = 60.0
    _SHARE = 0.05

    def __init__(self, name: str, tell: Tell) -> None:
        self._name = name
        self._tell = tell
        self._started = time.monotonic()
        self._first: int | None = None
        self._is_told = False

    def count(self, done: int, total: int) -> None:
        """Note how many prompts are done; those of an earlier session do not count."""
        if self._first is None:
            self._first = done - 1
        new = done - self._first
        seconds = time.monotonic() - self._started
        is_enough = seconds > self._MIN_SECONDS and new >= self._SHARE * total
        if self._is_told or not is_enough or done >= total:
            return
        self._is_told = True
        hours = seconds / new * (total - done) / 3600
        self._tell(f"{self._name}: {done} of {total} prompts, about {hours:.1f} h left")
