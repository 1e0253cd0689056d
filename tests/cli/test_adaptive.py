"""`darc ask` and `darc run` with a panel that is asked by what its grades are worth."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.test_adaptive_panel import NAMES, SEVERITY, learnt
from tests.engine.test_panel_samples import rater_of
from tests.fakes import FakeServer
from tests.fakes.answers import number
from tests.runs.makers import rows

from darc.cli import main
from darc.runs.folder import RunFolder

Out = pytest.CaptureFixture[str]
TEXT = re.compile(r"The Moon, [0-9a-f]{8}")


def grade_of(text: str, rater: str) -> int:
    """Answers differ by as much as raters do."""
    seed = int(hashlib.md5(text.encode()).hexdigest()[:8], 16)
    place = NAMES.index(rater)
    quality = np.random.default_rng(seed).normal(6, 1.2)
    noise = np.random.default_rng([seed, place]).normal(0, 1.4)
    return int(np.clip(round(quality + noise + SEVERITY[place]), 0, 10))


def reply(body: dict[str, Any], index: int) -> str:
    if "grade answers" in body["messages"][0]["content"]:
        (text,) = TEXT.findall(body["messages"][1]["content"])
        return str(grade_of(text, rater_of(body)))
    return f"The Moon, {number(body['messages'], body['seed'], index) % 16**8:08x}"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    with FakeServer() as fake:
        fake.ignores.add("logprobs")
        fake.reply = reply
        yield fake


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    path = tmp_path / "calibration.json"
    learnt().save(path)
    return path


def options(server: FakeServer) -> list[str]:
    generator = ["--generator", f"openai:fake@{server.url},key_env=", "-k", "8"]
    return [*generator, "--panel-mode", "separate", "--adaptive"]


def test_ask_says_what_was_saved_and_how_probable_the_choice_is(
    server: FakeServer, calibration: Path, capsys: Out
) -> None:
    command = ["ask", "Why?", *options(server), "--calibration", str(calibration)]
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["panel"]["asked"] <= 0.6 * 64
    assert data["panel"]["asked"] + data["panel"]["saved"] == 64
    (flag,) = [flag for flag in data["flags"] if flag.startswith("likely:")]
    assert 0.2 < float(flag.partition(":")[2]) < 1
    assert data["certainty"]["words"]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "the choice is final with probability" in printed.out
    assert "How sure:" in printed.out
    assert "of 64 grades" in printed.err
    assert "calls, about" in printed.err


def test_what_is_missing_is_said_before_anything_is_asked(
    server: FakeServer, capsys: Out, tmp_path: Path
) -> None:
    command = ["ask", "Why?", *options(server)]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "darc calibrate" in error
    assert error.count("\n") == 1
    assert main([*command, "--scorer", "form"]) == 2
    assert main([*command, "--call-price", "-1"]) == 2
    assert not server.received


def test_a_run_saves_calls_and_can_be_completed(
    server: FakeServer, calibration: Path, capsys: Out, tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts.jsonl"
    lines = [json.dumps({"id": f"q{i}", "prompt": f"Why {i}?"}) for i in range(4)]
    prompts.write_text("\n".join(lines), encoding="utf-8")
    folder = tmp_path / "run"
    command = ["run", "--prompts", str(prompts), "--out", str(folder), *options(server)]
    command += ["--calibration", str(calibration)]
    assert main([*command, "--json"]) == 0
    totals = json.loads(capsys.readouterr().out)
    assert totals["flags"]["likely"] == 4
    assert totals["calls_saved"] >= 0.4 * 4 * 64
    decisions = rows(RunFolder(folder), "decisions.jsonl")
    assert sum(row["calls_saved"] for row in decisions.values()) == totals["calls_saved"]
    assert all(row["certainty"]["words"] for row in decisions.values())
    assert main(["show", str(folder), "q1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["index"] == decisions["q1"]["index"]
    assert shown["flags"] == decisions["q1"]["flags"]
    assert shown["certainty"] == pytest.approx(decisions["q1"]["certainty"])
    assert main(["show", str(folder), "q1"]) == 0
    assert decisions["q1"]["certainty"]["words"] in capsys.readouterr().out
    asked = len(server.received)
    assert main([*command, "--json"]) == 0
    assert len(server.received) == asked
    capsys.readouterr()
    assert main([*command, "--complete"]) == 0
    printed = capsys.readouterr().out
    assert "likely" not in printed
    assert "saved" not in printed
    assert main(["show", str(folder), "q1", "--json"]) == 0
    assert "likely" not in "".join(json.loads(capsys.readouterr().out)["flags"])
    assert len(server.received) - asked == totals["calls_saved"]
