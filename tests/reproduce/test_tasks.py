from typing import Any

import pytest

from darc.reproduce.experiment import Experiment, read_experiment
from darc.reproduce.table_tasks import tasks_for
from darc.reproduce.tasks import TaskList

STEPS = ["generate", "rewrite", "score", "side", "train", "evaluate"]


@pytest.fixture
def experiment() -> Experiment:
    return read_experiment("paper")


def changed(experiment: Experiment, place: int, **changes: Any) -> Experiment:
    generators = list(experiment.generators)
    generators[place] = generators[place].model_copy(update=changes)
    return experiment.model_copy(update={"generators": tuple(generators)})


def test_all_steps_are_there_and_in_order(experiment: Experiment) -> None:
    tasks = list(TaskList(experiment))
    assert {task.step for task in tasks} == set(STEPS)
    names = [task.name for task in tasks]
    for task in tasks:
        assert all(names.index(name) < names.index(task.name) for name in task.after)


def test_policies_are_written_after_training(experiment: Experiment) -> None:
    task = TaskList(experiment)["generate Llama-3.1-8B-Instruct / MT-Bench / cDPO"]
    assert task.after == ("train Llama-3.1-8B-Instruct cDPO",)


def test_hashes_follow_from_what_comes_before(experiment: Experiment) -> None:
    before = {task.name: task.inputs for task in TaskList(experiment)}
    sampling = experiment.sampling.model_copy(update={"temperature": 0.7})
    after = {
        task.name: task.inputs
        for task in TaskList(experiment.model_copy(update={"sampling": sampling}))
    }
    score = "score Llama-3.1-8B-Instruct / MT-Bench / Base"
    assert before[score] != after[score]
    assert before["train caution"] == after["train caution"]


def test_a_further_rule_changes_evaluations_alone(experiment: Experiment) -> None:
    method = experiment.methods[0].model_copy(update={"rule": "cvar", "label": "CVaR"})
    more = experiment.model_copy(update={"methods": (*experiment.methods, method)})
    before = {task.name: task.inputs for task in TaskList(experiment)}
    changed_steps = {task.step for task in TaskList(more) if before[task.name] != task.inputs}
    assert changed_steps == {"evaluate"}


def test_a_server_without_weights_leaves_out_what_needs_them(experiment: Experiment) -> None:
    server = "openai:llama@http://localhost:8000/v1"
    tasks = TaskList(changed(experiment, 0, model=server))
    assert "generate Llama-3.1-8B-Instruct / MT-Bench / Base" in tasks
    assert "generate Llama-3.1-8B-Instruct / MT-Bench / DeAL" not in tasks
    assert "train Llama-3.1-8B-Instruct cDPO" not in tasks
    assert any("DeAL" in sentence for sentence in tasks.left_out)
    assert any("RBoN" in sentence for sentence in tasks.left_out)


def test_a_server_with_weights_does_everything(experiment: Experiment) -> None:
    server = "openai:llama@http://localhost:8000/v1"
    tasks = TaskList(changed(experiment, 0, model=server, weights="meta-llama/L"))
    assert "generate Llama-3.1-8B-Instruct / MT-Bench / DeAL" in tasks
    assert not tasks.left_out


@pytest.mark.parametrize(
    ("table", "steps"),
    [
        ("latency", {"score"}),
        ("scaling", {"generate", "rewrite", "score", "evaluate"}),
        ("multi_scorer", {"generate", "rewrite", "score", "evaluate"}),
        ("main", set(STEPS)),
    ],
)
def test_a_table_needs_its_own_steps_only(
    experiment: Experiment, table: str, steps: set[str]
) -> None:
    assert {task.step for task in tasks_for(TaskList(experiment), [table])} == steps


def test_the_table_of_scorers_needs_one_generator(experiment: Experiment) -> None:
    tasks = tasks_for(TaskList(experiment), ["per_scorer"])
    assert {task.pool.generator for task in tasks if task.pool} == {"Llama-3.1-8B-Instruct"}
