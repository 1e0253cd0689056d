"""`darc diagnose --panel`: runs, files and audit logs, with people, earlier runs and probes."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.panel_audit.worlds import PanelWorld
from tests.fakes import FakeServer
from tests.fakes.judging import JudgeHabits

from darc.cli import main
from darc.typing import Array

Out = pytest.CaptureFixture[str]


def write(path: Path, values: Array, prefix: str, repeats: int = 1) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        generator = np.random.default_rng(0)
        for (p, k, j), value in np.ndenumerate(values):
            for _ in range(repeats):
                noise = generator.normal(0, 0.5) if repeats > 1 else 0.0
                writer.writerow([f"p{p}", f"c{k}", f"{prefix}{j}", f"{value + noise:.4f}"])
    return path


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path]:
    """The files of a panel of two voices, and of people."""
    grades, people, _ = PanelWorld(correlation=0.9, clusters=2, quality=2.0).draw(0)
    return (
        write(tmp_path / "panel.csv", grades, "judge "),
        write(tmp_path / "people.csv", people, "person "),
    )


def audit(capsys: Out, *arguments: object) -> dict[str, Any]:
    assert main(["diagnose", "--panel", *map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_panel_of_two_voices_is_called_that(world: tuple[Path, Path], capsys: Out) -> None:
    panel, people = world
    assert main(["diagnose", "--panel", str(panel), str(people)]) == 0
    printed = capsys.readouterr().out
    assert "these 8 raters count as about " in printed.splitlines()[0]
    assert "may stand in for one of your raters" in printed
    assert "epsilon 0.1" in printed
    for name in ("judge 7", "person 3", "winning rate", "with length"):
        assert name in printed


def test_json_and_tables_agree(world: tuple[Path, Path], tmp_path: Path, capsys: Out) -> None:
    panel, people = world
    found = audit(capsys, panel, people, "--out", tmp_path / "out")
    assert 1.5 < found["effective_number"]["value"] < 3
    assert found["effective_number"]["low"] < 2.15 < found["effective_number"]["high"]
    assert found["against_people"] is True
    assert found["may_stand_in"] is True
    assert found["winning_rate"] == 1
    assert found["rated_answers"] == 360
    with (tmp_path / "out" / "panel_raters.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["rater"] for row in rows[1:]] == [f"judge {number}" for number in range(8)]
    assert float(rows[0]["with_people"]) > 0.7


def test_without_people_it_says_what_cannot_be_known(world: tuple[Path, Path], capsys: Out) -> None:
    found = audit(capsys, world[0])
    assert found["against_people"] is False
    assert found["may_stand_in"] is None
    text = " ".join(found["sentences"])
    assert "at most about 2." in text
    assert "cannot be seen without people" in text
    assert "cannot be known without people" in text


def test_a_constant_panel_may_not_stand_in(world: tuple[Path, Path], capsys: Out) -> None:
    panel, people = world
    write(panel, np.full((60, 6, 3), 5.0), "judge ")
    found = audit(capsys, panel, people)
    assert found["may_stand_in"] is False
    assert "may not stand in" in " ".join(found["sentences"])


def test_repeats_of_a_file(tmp_path: Path, capsys: Out) -> None:
    grades, _, _ = PanelWorld(prompts=20, raters=3).draw(0)
    path = write(tmp_path / "panel.csv", grades, "judge ", repeats=2)
    (row,) = audit(capsys, path)["tables"]["panel_repeats"]
    assert row["noise"] == pytest.approx(0.5, rel=0.15)
    assert row["reason"]


def test_drift_against_an_earlier_file_and_a_calibration(
    world: tuple[Path, Path], tmp_path: Path, capsys: Out
) -> None:
    panel, people = world
    grades, _, _ = PanelWorld(correlation=0.9, clusters=2, quality=2.0).draw(0)
    grades += np.random.default_rng(1).normal(0, 0.3, grades.shape)
    grades[:, :, 2] += 1
    now = write(tmp_path / "now.csv", grades, "judge ")
    found = audit(capsys, now, people, "--against", panel)
    assert found["drift"]["moved"] == ["judge 2"]
    assert {"change", "change_low", "change_high"} <= found["tables"]["panel_drift"][0].keys()
    assert "has changed by" in " ".join(found["sentences"])
    calibration = tmp_path / "then.json"
    assert main(["calibrate", str(panel), "--out", str(calibration)]) == 0
    capsys.readouterr()
    assert "judge 2" in audit(capsys, now, "--against", calibration)["drift"]["moved"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to diagnose"),
        (["people.csv", "--probe", "judge:m@http://127.0.0.1:9"], "--panel"),
        (["people.csv", "--against", "panel.csv"], "--panel"),
        (["--panel", "panel.csv", "--plot", "x.png"], "--plot"),
        (["--panel", "panel.csv", "--probe", "3"], "no model to judge"),
        (["--panel", "panel.csv", "--probe", "judge:m@http://127.0.0.1:9,key_env="], "no texts"),
        (["--panel", "nameless.csv"], "rater_id"),
        (["--panel", "panel.csv", "other.csv"], "share no candidate"),
    ],
)
def test_bad_input_is_refused(
    world: tuple[Path, Path],
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Out,
) -> None:
    (world[0].parent / "nameless.csv").write_text("prompt_id,candidate_id,rating\nx,a,1\nx,b,2\n")
    other = "prompt_id,candidate_id,rater_id,rating\nx,a,ann,1\nx,b,ann,2\n"
    (world[0].parent / "other.csv").write_text(other)
    monkeypatch.chdir(world[0].parent)
    assert main(["diagnose", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_run_is_audited_and_its_panel_probed(
    openai_server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = JudgeHabits(obedience=6.0, noise=2).reply
    prompts = tmp_path / "prompts.jsonl"
    lines = [{"id": f"p{i}", "turns": [f"What is matter {i}?"]} for i in range(12)]
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    candidates = tmp_path / "candidates.jsonl"
    answers = [
        {
            "prompt_id": f"p{i}",
            "candidate_id": f"c{k}",
            "response": f"Matter {i}, answer {k}, is worth {k + 2}.",
        }
        for i in range(12)
        for k in range(4)
    ]
    candidates.write_text("".join(json.dumps(row) + "\n" for row in answers))
    judge = f"judge:fake@{openai_server.url},key_env="
    run = tmp_path / "run"
    command = ["run", "--prompts", str(prompts), "--generator", f"given:{candidates}"]
    command += ["--out", str(run), "--panel", "3", "--panel", judge, "--repeats", "2"]
    assert main(command) == 0
    capsys.readouterr()
    before = len(openai_server.received)
    arguments = ["diagnose", "--panel", str(run), "--probe", "3", "--probe", judge]
    assert main([*arguments, "--probe-prompts", "11", "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found["raters"] == 3
    assert len(found["tables"]["panel_repeats"]) == 3
    assert found["probes"]["failed"] == ["injection"]
    assert found["probes"]["calls"] == 11 * 3 * 5
    assert f"{11 * 3 * 5} calls" in printed.err
    assert 0 <= len(openai_server.received) - before - 11 * 3 * 5 <= 1


def test_a_gateways_audit_log_is_audited_and_one_of_rewrites_refused(
    tmp_path: Path, capsys: Out
) -> None:
    generator = np.random.default_rng(0)
    rows = []
    for number in range(15):
        quality = generator.normal(5, 1.5, (3, 1))
        grades = np.clip(np.round(quality + generator.normal(size=(3, 4))), 0, 10)
        decision = {"prompt_id": "p", "candidates": [], "answer": "yes", "request_id": f"r{number}"}
        scores = {"scorers": ["panel"], "scores": [grades.tolist()], "raters": ["a", "b", "c", "d"]}
        rows.append({**decision, **scores})
    log = tmp_path / "audit.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = audit(capsys, log)
    assert found["raters"] == 4
    assert found["prompts"] == 15
    for row in rows:
        del row["raters"]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["diagnose", "--panel", str(log)]) == 2
    assert "no panel" in capsys.readouterr().err
