"""An experiment without any model, from the first step to the page."""

import csv
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.reproduce.small import CANDIDATES, PROMPTS, small_experiment, write_experiment

from darc.analysis.run_ratings import load_run
from darc.cli import main
from darc.errors import DarcError, InputError
from darc.reproduce import run_steps
from darc.reproduce.experiment import Experiment, read_experiment
from darc.reproduce.figures import write_figures
from darc.reproduce.names import PoolName
from darc.reproduce.output import write_output
from darc.reproduce.reproduction import Reproduction
from darc.reproduce.results import Results
from darc.reproduce.run_steps import RunSteps
from darc.reproduce.tasks import Task
from darc.runs.run import run as whole_run

POOL = PoolName("given", "small", "Base")


def reproduction(tmp_path: Path, sentences: list[str], ratings: bool = True) -> Reproduction:
    experiment = small_experiment(tmp_path / "input", ratings)
    return Reproduction(experiment, tmp_path / "out", lambda *_: None, sentences.append)


@dataclass(frozen=True)
class Finished:
    """An experiment of which everything is done."""

    experiment: Experiment
    configuration: Path
    out: Path
    finished_tasks: int

    def copy(self, tmp_path: Path) -> Reproduction:
        """Return the finished work in a folder of the test's own."""
        out = tmp_path / "out"
        shutil.copytree(self.out, out)
        return Reproduction(self.experiment, out, lambda *_: None, lambda _: None)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The whole experiment takes many seconds, so the tests that only read it share one."""
    folder = tmp_path_factory.mktemp("finished")
    configuration = write_experiment(folder / "input")
    experiment = read_experiment(str(configuration))
    work = Reproduction(experiment, folder / "out", lambda *_: None, lambda _: None)
    count = work.do(list(work.tasks))
    return Finished(experiment, configuration, folder / "out", count)


def test_from_the_first_step_to_the_page(finished: Finished, tmp_path: Path) -> None:
    work = finished.copy(tmp_path)
    assert finished.finished_tasks == len(list(work.tasks))
    assert work.do(list(work.tasks)) == 0

    ratings = load_run(work.folder.run(POOL, "style", "style"))
    assert ratings.shape == (PROMPTS, 2, CANDIDATES, 5)
    results = Results(work.experiment, work.folder)
    written = write_output(results, ["main", "human", "family_alignment", "ridge"], ["a reason"])
    assert [table.name for table in written.tables] == ["main", "human", "family_alignment"]
    with (work.folder.tables / "main.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["given / small / Reward"]) > 0
    assert rows[0]["given / small / Reward (paper)"] == "4.53"
    page = written.page.read_text(encoding="utf-8")
    assert '<span class="printed">4.53</span>' in page
    assert "a reason" in page
    assert "<svg" in page


def test_one_table_has_a_page_of_its_own(finished: Finished, tmp_path: Path) -> None:
    finished.copy(tmp_path)
    command = ["reproduce", str(finished.configuration), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert main([*command, "--table", "main"]) == 0
    assert (tmp_path / "out" / "index.html").read_text(encoding="utf-8") == page
    only = (tmp_path / "out" / "main.html").read_text(encoding="utf-8")
    assert 'id="table-main"' in only
    assert 'id="table-human"' not in only


def test_changes_are_against_the_base(finished: Finished, tmp_path: Path) -> None:
    work = finished.copy(tmp_path)
    results = Results(work.experiment, work.folder)
    write_output(results, ["main", "changes"], [])
    tables = {}
    for name in ("main", "changes"):
        with (work.folder.tables / f"{name}.csv").open(encoding="utf-8") as file:
            tables[name] = list(csv.DictReader(file))
    column = "given / small / Tradeoff"
    base = float(tables["main"][0][column])
    assert float(tables["changes"][0][column]) == 0
    for main_row, change_row in zip(tables["main"], tables["changes"], strict=True):
        if main_row["block"] == "Overall":
            change = float(main_row[column]) - base
            assert float(change_row[column]) == pytest.approx(change, abs=0.011)


def test_figures_name_methods_as_the_paper_does(finished: Finished, tmp_path: Path) -> None:
    work = finished.copy(tmp_path)
    results = Results(work.experiment, work.folder)
    (ridge,) = write_figures(results, ["ridge"], tmp_path / "figures")
    assert "DARC-epsilon" in ridge.svg
    assert "Best-of-K" in ridge.svg
    assert "epsilon=0.25" not in ridge.svg


@pytest.mark.slow
def test_the_listed_stress_slice_is_used(finished: Finished, tmp_path: Path) -> None:
    finished.copy(tmp_path)
    experiment = finished.experiment
    assert experiment.human is not None
    stress = tmp_path / "stress.txt"
    stress.write_text("p1\np3\np4\n", encoding="utf-8")
    human = experiment.human.model_copy(update={"stress": stress})
    experiment = experiment.model_copy(update={"human": human})
    work = Reproduction(experiment, tmp_path / "out", lambda *_: None, lambda _: None)
    work.do(list(work.tasks))
    families = Results(experiment, work.folder).frame(("given", "small"), "families")
    assert families is not None
    assert set(families.where(slice="stress").column("prompts")) == {3}


def test_other_ratings_in_the_same_file_are_evaluated_again(
    finished: Finished, tmp_path: Path
) -> None:
    assert finished.experiment.human is not None
    path = finished.experiment.human.ratings["Base"]
    ratings = path.read_text(encoding="utf-8")
    path.write_text(ratings.replace("r4", "r5"), encoding="utf-8")
    try:
        again = finished.copy(tmp_path)
        waiting = again.unfinished(list(again.tasks))
    finally:
        path.write_text(ratings, encoding="utf-8")
    assert {task.step for task in waiting} == {"evaluate"}


def test_a_missing_file_of_people_is_refused(tmp_path: Path) -> None:
    work = reproduction(tmp_path, [])
    assert work.experiment.human is not None
    work.experiment.human.ratings["Base"].unlink()
    with pytest.raises(InputError, match=r"ratings\.csv"):
        work.check_machine(list(work.tasks))


@pytest.mark.slow
def test_a_stopped_step_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences: list[str] = []
    work = reproduction(tmp_path, sentences)

    def stopping_run(*arguments: object, **options: object) -> None:
        raise DarcError("stopped")

    real_score = RunSteps.score

    def stopped_score(self: RunSteps, task: Task) -> None:
        monkeypatch.setattr(run_steps, "run", stopping_run)
        try:
            real_score(self, task)
        finally:
            monkeypatch.setattr(run_steps, "run", whole_run)

    monkeypatch.setattr(RunSteps, "score", stopped_score)
    with pytest.raises(DarcError, match="stopped"):
        work.do(list(work.tasks))
    monkeypatch.setattr(RunSteps, "score", real_score)
    sentences.clear()
    again = reproduction(tmp_path, sentences)
    again.do(list(again.tasks))
    assert not any("generate" in sentence for sentence in sentences)
    assert sentences[0].endswith(f"score {POOL}")


def test_rewrites_are_kept_when_scorers_change(tmp_path: Path) -> None:
    work = reproduction(tmp_path, [])
    work.do(work.tasks.of_step("generate"))
    work.do(work.tasks.of_step("rewrite"))
    shard = work.folder.run(POOL, "style", "style") / "shards" / "00000"
    before = sorted(path.read_bytes() for path in shard.glob("variants*"))
    work.do([task for task in work.tasks.of_step("score") if task.name == f"score {POOL}"])
    assert sorted(path.read_bytes() for path in shard.glob("variants*")) == before


def test_a_step_whose_inputs_are_missing_is_refused(tmp_path: Path) -> None:
    work = reproduction(tmp_path, [])
    with pytest.raises(InputError, match="--step generate"):
        work.check_ready(work.tasks.of_step("rewrite"))


def test_missing_files_are_refused_before_anything_starts(tmp_path: Path) -> None:
    work = reproduction(tmp_path, [])
    (tmp_path / "input" / "ratings.csv").unlink()
    with pytest.raises(InputError, match=r"ratings\.csv"):
        work.check_machine(list(work.tasks))
    (tmp_path / "input" / "prompts.jsonl").unlink()
    with pytest.raises(InputError, match=r"prompts\.jsonl"):
        work.check_machine(list(work.tasks))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_experiment(tmp_path / "input", ratings=False)
    out = tmp_path / "out"
    words = ["reproduce", str(path), "--out", str(out)]
    assert main([*words, "--plan", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    generate = plan["steps"][0]
    assert generate["step"] == "generate"
    assert generate["tokens"] == PROMPTS * CANDIDATES * 320
    assert generate["hours"] is None
    assert not (out / "pools").exists()

    assert main([*words, "--step", "generate"]) == 0
    assert (out / "pools").is_dir()
    assert not (out / "runs").exists()

    assert main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"main", "latency", "multi_scorer", "per_scorer"} <= set(result["tables"])
    assert any("human" in sentence for sentence in result["left_out"])


def test_wrong_input_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_experiment(tmp_path / "input", ratings=False)
    for words, name in (
        (["papr"], "papr"),
        ([str(path), "--table", "mian"], "mian"),
        ([str(path), "--table", "human"], "ratings"),
    ):
        assert main(["reproduce", *words, "--out", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert name in error
        assert "Traceback" not in error
