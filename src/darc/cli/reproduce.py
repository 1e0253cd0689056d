"""`darc reproduce`: the paper's experiment, step by step, into a folder."""

from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import print_json, progress, say
from darc.settings.reproduce import ReproduceSettings

if TYPE_CHECKING:
    from darc.reproduce.output import Written
    from darc.reproduce.plan import Plan
    from darc.reproduce.reproduction import Reproduction
    from darc.reproduce.tasks import Task


def run(settings: ReproduceSettings) -> None:
    """Read the experiment, say what it needs, do it, and print where the results are."""
    from darc.reproduce.experiment import read_experiment
    from darc.reproduce.folder import ExperimentFolder
    from darc.reproduce.output import names_of, write_output
    from darc.reproduce.plan import make_plan
    from darc.reproduce.reproduction import Reproduction
    from darc.reproduce.results import Results
    from darc.reproduce.table_tasks import check_people, tasks_for

    experiment = read_experiment(settings.experiment)
    names = names_of([settings.table] if settings.table else experiment.tables)
    if settings.rehearse:
        from darc.reproduce.rehearsal import rehearsal_of

        experiment = rehearsal_of(experiment, ExperimentFolder(settings.out))
    if settings.table:
        check_people(experiment, settings.table)
    with progress("", " done") as report:
        reproduction = Reproduction(experiment, settings.out, report, say)
        tasks = _chosen_tasks(settings, reproduction, tasks_for(reproduction.tasks, names))
        plan = make_plan(reproduction, tasks)
        _say_plan(plan)
        if settings.plan:
            if settings.as_json:
                print_json(_plan_fields(plan))
            return
        reproduction.check_machine(tasks)
        if settings.step is not None:
            reproduction.check_ready(tasks)
        done = reproduction.do(tasks)
    if settings.step not in (None, "tables"):
        say(f"{done} tasks done, {len(tasks) - done} were done before")
        return
    results = Results(experiment, reproduction.folder)
    written = write_output(results, names, plan.left_out, whole=not settings.table)
    _print_results(settings, written)


def _chosen_tasks(
    settings: ReproduceSettings, reproduction: "Reproduction", tasks: "list[Task]"
) -> "list[Task]":
    """The tasks of the step that is asked for, or all that the tables need."""
    if settings.step is None:
        return tasks
    return [task for task in tasks if task.step == settings.step]


def _say_plan(plan: "Plan") -> None:
    """Say on standard error what is left to do, and what it needs."""
    from darc.reproduce.plan import plan_sentences
    from darc.views.text_table import text_table

    rows: list[list[object]] = []
    for step in plan.steps:
        hours = "-" if step.hours is None else f"{step.hours:.1f}"
        rows.append(
            [
                step.step,
                step.tasks,
                step.done,
                f"{step.work.tokens:,}",
                f"{step.work.texts:,}",
                hours,
            ]
        )
    if rows:
        header = ["step", "tasks left", "done", "tokens to write", "texts to read", "hours"]
        say(text_table(header, rows))
    for sentence in plan_sentences(plan):
        say(sentence)


def _plan_fields(plan: "Plan") -> dict[str, Any]:
    steps = [
        {
            "step": step.step,
            "tasks": step.tasks,
            "done": step.done,
            "tokens": step.work.tokens,
            "texts": step.work.texts,
            "bytes": step.work.bytes,
            "hours": step.hours,
        }
        for step in plan.steps
    ]
    return {"steps": steps, "downloads": plan.downloads, "left_out": plan.left_out}


def _print_results(settings: ReproduceSettings, written: "Written") -> None:
    if settings.as_json:
        fields = {
            "page": str(written.page),
            "tables": [table.name for table in written.tables],
            "figures": [figure.name for figure in written.figures],
            "left_out": written.left_out,
        }
        print_json(fields)
        return
    print(f"the page is {written.page}")
    print(f"tables: {', '.join(table.name for table in written.tables)}")
    if written.figures:
        print(f"figures: {', '.join(figure.name for figure in written.figures)}")
    for sentence in written.left_out:
        print(sentence)


COMMAND = Command(ReproduceSettings, run, interrupted="go on with the same command")
