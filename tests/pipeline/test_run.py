import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from darc.errors import InputError
from darc.generators.base import Settings
from darc.perturb import RulesRewriter
from darc.pipeline.engine import Engine
from darc.pipeline.folder import RunFolder
from darc.pipeline.questions import Question
from darc.pipeline.rule_spec import parse_rules
from darc.pipeline.run import manifest, read_story, run, summary
from darc.types import Candidate, Prompt

QUESTIONS = [
    Question("tides", ("Why are there two tides?", "Say it shorter.")),
    Question("bread", ("How is bread made?",), "cooking"),
    Question("sky", ("Why is the sky blue?",)),
]
FILES = ("prompts", "candidates", "variants", "rejected", "scores", "decisions")


class SlowGenerator:
    """Answers from the question's own words, and counts its calls in a file."""

    name = "words"

    def __init__(self, log: Path | None = None, seconds: float = 0.0) -> None:
        self._log, self._seconds = log, seconds

    def generate(self, prompts: Any, settings: Settings) -> list[list[Candidate]]:
        time.sleep(self._seconds)
        if self._log is not None:
            with self._log.open("a") as file:
                file.writelines(f"{prompt.id}\n" for prompt in prompts)
        return [[self._one(prompt, i) for i in range(settings.k)] for prompt in prompts]

    def _one(self, prompt: Prompt, index: int) -> Candidate:
        words = prompt.question.rstrip("?.").split() * (index + 2)
        earlier = len(prompt.messages)
        return Candidate(prompt.id, index, f"It is about {' '.join(words)} and {earlier} things.")


class Lengths:
    """Scores a text by its length."""

    name, location, scale, bounds = "length", 60.0, 20.0, (0.0, 1000.0)

    def score(self, pairs: Any) -> Any:
        return np.array([float(len(text)) for _, text in pairs])


def start(folder: Path, rule: str = "epsilon", **options: Any) -> RunFolder:
    log, seconds = options.pop("log", None), options.pop("seconds", 0.0)
    (spec,) = parse_rules([rule], {})
    made = RunFolder(folder)
    made.open(manifest({"sampling": {"seed": 0}}, QUESTIONS))
    engine = Engine(RulesRewriter(), [Lengths()], 3)
    run(made, QUESTIONS, SlowGenerator(log, seconds), Settings(k=3), engine, spec, **options)
    return made


def contents(folder: Path) -> dict[str, bytes]:
    names = [f"{name}.jsonl" for name in FILES] + ["manifest.json"]
    return {name: (folder / name).read_bytes() for name in names}


def test_run_writes_every_stage_and_the_second_turn_sees_the_first(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    assert list(folder.rows("decisions.jsonl")) == ["tides", "bread", "sky", "tides#2"]
    first = folder.rows("decisions.jsonl")["tides"]["answer"]
    messages = folder.rows("prompts.jsonl")["tides#2"]["messages"]
    assert [message["content"] for message in messages] == [
        "Why are there two tides?",
        first,
        "Say it shorter.",
    ]
    assert folder.manifest()["complete"] is True
    assert "4 prompts" in summary(folder)
    story = read_story(folder, "bread", parse_rules(["mean"], {})[0], 0)
    assert story.prompt.category == "cooking"
    assert story.scores.shape == (1, 3, 4)
    assert story.answer == story.candidates[story.decision.index].text


def test_same_run_gives_the_same_bytes_and_does_nothing_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    start(tmp_path / "one", log=log)
    start(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    start(tmp_path / "one", log=log)
    assert log.read_text().split() == ["tides", "bread", "sky", "tides#2"]


def test_stage_can_be_done_again_with_another_rule(tmp_path: Path) -> None:
    log = tmp_path / "log"
    start(tmp_path / "run", log=log)
    before = contents(tmp_path / "run")
    again = start(tmp_path / "run", rule="cvar", restart="decisions", log=log)
    assert {row["rule"] for row in again.rows("decisions.jsonl").values()} == {"cvar"}
    assert contents(tmp_path / "run")["scores.jsonl"] == before["scores.jsonl"]


def test_torn_line_is_cut_off(tmp_path: Path) -> None:
    start(tmp_path / "run")
    expected = contents(tmp_path / "run")
    for name in ("decisions", "scores", "variants"):
        path = tmp_path / "run" / f"{name}.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
    start(tmp_path / "run")
    assert contents(tmp_path / "run") == expected


KILLED = """
import sys
from pathlib import Path
from tests.pipeline.test_run import start
start(Path(sys.argv[1]), log=Path(sys.argv[2]), seconds=0.05)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
def test_killed_runs_end_with_the_same_bytes(tmp_path: Path) -> None:
    start(tmp_path / "left alone")
    root = Path(__file__).parents[2]
    log, folder = tmp_path / "log", tmp_path / "killed"
    generator = np.random.default_rng(0)
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", KILLED, folder, log], cwd=root)
        time.sleep(float(generator.uniform(0.3, 1.0)))
        process.send_signal(signal.SIGKILL)
        process.wait()
    start(folder, log=log)
    assert contents(folder) == contents(tmp_path / "left alone")


def test_other_runs_and_folders_are_refused(tmp_path: Path) -> None:
    start(tmp_path / "run")
    with pytest.raises(InputError, match="holds another run"):
        RunFolder(tmp_path / "run").open(manifest({"sampling": {"seed": 1}}, QUESTIONS))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        RunFolder(tmp_path / "full").open({})
    with pytest.raises(InputError, match="is no run folder"):
        RunFolder(tmp_path / "none").manifest()
    newer = tmp_path / "run" / "manifest.json"
    newer.write_text(json.dumps({"schema": 99}))
    with pytest.raises(InputError, match="schema 99, newer than 1"):
        RunFolder(tmp_path / "run").manifest()
    with pytest.raises(InputError, match="no prompt 'x'"):
        read_story(start(tmp_path / "again"), "x", parse_rules(["mean"], {})[0], 0)
