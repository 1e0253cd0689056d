"""Which tasks each table and figure needs."""

from collections.abc import Sequence

from darc.errors import InputError
from darc.reproduce.experiment import BASE, Experiment
from darc.reproduce.figures import FIGURES
from darc.reproduce.tasks import SCORERS, Task, TaskList

#: Tables and figures that cannot be made without ratings of people.
NEED_PEOPLE = (
    "human",
    "validity",
    "pool",
    "errors",
    "scalarisation",
    "family_alignment",
    "family_downstream",
    "mismatches",
    "overlap",
    "scatter",
)
# Tables that need more than the base's pool.
_BY_SOURCE = ("human", "errors")
# Tables that need the evaluation of the base's pool that people rated.
_BY_BASE = ("buckets", "sensitivity", *NEED_PEOPLE, *FIGURES)


def tasks_for(tasks: TaskList, names: Sequence[str]) -> list[Task]:
    """The tasks that tables and figures need, with all that those use.

    Args:
        tasks: All tasks of an experiment.
        names: The names of tables and figures.

    Returns:
        The tasks, in order.
    """
    wanted = [task.name for task in tasks if any(_needs(tasks, name, task) for name in names)]
    return tasks.needed_for(wanted)


def _needs(tasks: TaskList, table: str, task: Task) -> bool:
    """Whether a table reads the results of a task."""
    experiment = tasks.experiment
    if task.pool is None:
        return False
    generator = experiment.generator(task.pool.generator)
    if "latency_prompts" in task.settings:
        return table == "latency"
    if task.step != "evaluate":
        return False
    kind = task.settings["kind"]
    if table in ("multi_scorer", "per_scorer"):
        return kind == SCORERS
    if table in ("main", "changes"):
        return generator.full and kind != SCORERS
    if table == "scaling":
        return not generator.full
    if kind == SCORERS or task.pool.cell != experiment.rated_cell:
        return False
    if table in _BY_SOURCE:
        return True
    return table in _BY_BASE and kind == BASE


def check_people(experiment: Experiment, table: str) -> None:
    """Refuse a table that needs people's ratings where there are none.

    Args:
        experiment: The experiment.
        table: The name of the table.

    Raises:
        InputError: The table needs ratings, and the experiment has none.
    """
    if table in NEED_PEOPLE and not experiment.has_ratings:
        raise InputError(
            f"the table {table} needs the ratings of people",
            'add them: [human] ratings = { Base = "ratings.csv" }',
        )
