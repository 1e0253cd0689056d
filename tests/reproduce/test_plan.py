from pathlib import Path

import pytest

from darc.reproduce.experiment import read_experiment
from darc.reproduce.plan import make_plan, plan_sentences
from darc.reproduce.reproduction import Reproduction, _FirstBatch
from darc.reproduce.state import DoneTask
from darc.reproduce.work import work_of

LLAMA = "Llama-3.1-8B-Instruct"


@pytest.fixture
def paper(tmp_path: Path) -> Reproduction:
    return Reproduction(read_experiment("paper"), tmp_path, lambda *_: None, lambda _: None)


def test_work_is_counted_from_the_configuration(paper: Reproduction) -> None:
    tasks = paper.tasks

    def count(name: str) -> tuple[int, int]:
        work = work_of(tasks[name], paper.experiment)
        return work.tokens, work.texts

    assert count(f"generate {LLAMA} / MT-Bench / Base") == (160 * 16 * 320, 0)
    assert count(f"rewrite {LLAMA} / MT-Bench / Base") == (160 * 16 * 32 * 320, 0)
    assert count(f"score {LLAMA} / MT-Bench / Base") == (0, 160 * 16 * 9 * 3)
    assert count(f"side {LLAMA} / MT-Bench / Base") == (0, 160 * 16 * 10)
    assert count(f"generate {LLAMA} / MT-Bench / DeAL") == (160 * 512 * 129, 160 * 512 * 8)


def test_downloads_are_named_with_their_size(paper: Reproduction) -> None:
    plan = make_plan(paper, list(paper.tasks))
    assert plan.downloads["meta-llama/Llama-3.1-8B-Instruct"] == 16_060_000_000
    assert len(plan.downloads) == 7
    assert "78.4 GB" in " ".join(plan_sentences(plan))


def test_hours_are_said_only_where_something_was_timed(paper: Reproduction) -> None:
    names = [
        f"generate {LLAMA} / {benchmark} / Base" for benchmark in ("MT-Bench", "AlpacaEval 2.0")
    ]
    tasks = [paper.tasks[name] for name in names]
    assert make_plan(paper, tasks).steps[0].hours is None
    paper.state.add(names[0], DoneTask(tasks[0].inputs, 160 * 36.0, 160))
    step = make_plan(paper, tasks).steps[0]
    assert (step.tasks, step.done) == (1, 1)
    assert step.hours == pytest.approx(8.05)


def test_the_first_batch_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    sentences: list[str] = []
    clock = _FirstBatch("score", sentences.append)
    clock.count(1, 100)
    now = 30.0
    clock.count(10, 100)
    assert not sentences
    now = 3600.0
    clock.count(20, 100)
    clock.count(21, 100)
    assert sentences == ["score: 20 of 100 prompts, about 4.0 h left"]
