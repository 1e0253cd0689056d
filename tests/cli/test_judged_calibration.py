"""Calibrations that know judges: what select, eval, ask, run and serve make of them."""

import json
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, running
from tests.serve.running import parts as serving_parts

import darc
from darc.cli import main
from darc.decide.model.calibration_file import as_calibrations
from darc.parts.scorers.panel import Rater
from darc.typing import Array

Out = pytest.CaptureFixture[str]
PROMPTS = 80
ANSWERS = 4
LONG = "It is so because " + "one thing leads to another, and " * 12 + "so on."
SHORT = ["Nobody knows.", "It is so.", "Who can say."]


def write_world(folder: Path) -> Array:
    """Ratings by people who like long answers, texts, and a judge; the true means (P, K)."""
    generator = np.random.default_rng(0)
    truth = generator.normal(0, 0.8, (PROMPTS, ANSWERS))
    ratings = ["prompt_id,candidate_id,rater_id,rating"]
    texts = []
    for (p, k), value in np.ndenumerate(truth):
        noise = generator.normal(size=3)
        ratings += [f"p{p},c{k},r{j},{5 + value + noise[j]:.2f}" for j in range(3)]
        text = " ".join(["so"] * max(2, round(20 * np.exp(value))))
        ids = {"prompt_id": f"p{p}", "candidate_id": f"c{k}"}
        texts.append(json.dumps({**ids, "prompt": f"Why {p}?", "response": text}))
    (folder / "people.csv").write_text("\n".join(ratings) + "\n")
    (folder / "people.texts.jsonl").write_text("\n".join(texts) + "\n")
    return truth


def write_judge(folder: Path, grades: Array) -> Path:
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    for (p, k), value in np.ndenumerate(grades):
        if np.isfinite(value):
            lines.append(f"p{p},c{k},judge,{value:.3f}")
    path = folder / "judge.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def calibrated(folder: Path, judge: str, capsys: Out) -> Path:
    out = folder / "calibration.json"
    people = str(folder / "people.csv")
    assert main(["calibrate", people, "--judge", judge, "--out", str(out)]) == 0
    capsys.readouterr()
    return out


def chosen_truth(folder: Path, truth: Array, capsys: Out, *options: str) -> float:
    """The mean truth of what `darc select` chooses."""
    command = ["select", str(folder / "people.csv"), "--rule", "auto", *options, "--csv"]
    assert main(command) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(rows) == PROMPTS
    return float(np.mean([truth[int(row[0][1:]), int(row[2][1:])] for row in rows]))


@pytest.mark.parametrize(
    "kind", ["good", "noise", "constant", "reversed", "favours one system", "mostly missing"]
)
def test_select_gains_by_a_good_judge_and_loses_by_no_bad_one(
    kind: str, tmp_path: Path, capsys: Out
) -> None:
    truth = write_world(tmp_path)
    generator = np.random.default_rng(1)
    grades = {
        "good": truth + generator.normal(0, 0.4, truth.shape),
        "noise": generator.normal(size=truth.shape),
        "constant": np.full(truth.shape, 3.0),
        "reversed": -truth + generator.normal(0, 0.4, truth.shape),
        "favours one system": np.where(np.arange(ANSWERS) == 2, 3.0, 0.0) + 0 * truth,
        "mostly missing": np.where(generator.random(truth.shape) < 0.8, np.nan, truth),
    }[kind]
    judge = str(write_judge(tmp_path, grades))
    calibration = calibrated(tmp_path, judge, capsys)
    options = ("--calibration", str(calibration), "--judge", judge)
    with_judge = chosen_truth(tmp_path, truth, capsys, *options)
    without = chosen_truth(tmp_path, truth, capsys)
    if kind in ("good", "reversed"):
        assert with_judge > without + 0.03
    else:
        assert with_judge > without - 0.03


def test_eval_uses_a_judged_calibration_with_its_judge(tmp_path: Path, capsys: Out) -> None:
    truth = write_world(tmp_path)
    judge = str(write_judge(tmp_path, truth * 2))
    calibration = calibrated(tmp_path, judge, capsys)
    command = ["eval", str(tmp_path / "people.csv"), "--rule", "auto", "--json"]
    command += ["--splits", "4", "--draws", "200", "--calibration", str(calibration)]
    changes = []
    for options in ([], ["--judge", judge]):
        assert main([*command, *options]) == 0
        rows = json.loads(capsys.readouterr().out)["frames"]["human"]["rows"]
        (row,) = [r for r in rows if r["method"] == "auto" and r["subset"] == "overall"]
        changes.append(row["delta_mean"])
    without, with_judge = changes
    assert with_judge > without + 0.1


@pytest.fixture
def text_calibration(tmp_path: Path, capsys: Out) -> Path:
    write_world(tmp_path)
    return calibrated(tmp_path, "texts", capsys)


def listed_grades(body: dict[str, object], index: int) -> str:
    """A rater who finds every answer alike."""
    return json.dumps({"grades": [5] * str(body["messages"]).count("[BEGIN ANSWER")})


@pytest.fixture
def server(
    openai_server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FakeServer:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = listed_grades
    return openai_server


def test_ask_and_run_use_what_texts_predict(
    server: FakeServer, text_calibration: Path, tmp_path: Path, capsys: Out
) -> None:
    panel = ["--panel", "3", "--panel", f"judge:fake@{server.url},key_env="]
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([*SHORT, LONG]))
    ask = ["ask", "Why is it so?", "--answers", str(answers), *panel, "--json"]
    assert main(ask) == 0
    assert json.loads(capsys.readouterr().out)["answer"] != LONG
    assert main([*ask, "--calibration", str(text_calibration)]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == LONG
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(json.dumps({"id": "q", "turns": ["Why is it so?"]}) + "\n")
    given = tmp_path / "given.jsonl"
    rows = [
        {"prompt_id": "q", "candidate_id": f"c{place}", "response": text}
        for place, text in enumerate([*SHORT, LONG])
    ]
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = ["run", "--prompts", str(prompts), "--generator", f"given:{given}", *panel]
    run += ["--out", str(tmp_path / "run"), "--calibration", str(text_calibration)]
    assert main(run) == 0
    capsys.readouterr()
    assert main(["show", str(tmp_path / "run"), "q", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["index"] == 3


def test_serve_uses_what_texts_predict(server: FakeServer, text_calibration: Path) -> None:
    def reply(body: dict[str, object], index: int) -> str:
        if "[BEGIN ANSWER" in str(body["messages"]):
            return listed_grades(body, index)
        return [*SHORT, LONG][int(str(body.get("seed") or 0)) % ANSWERS]

    server.reply = reply
    panel = darc.Panel(raters=(Rater("one", "You are one."), Rater("two", "You are two.")))
    body = {"model": "mine", "messages": QUESTION, "seed": 0}
    calibrations = as_calibrations(text_calibration)
    options = {"parts": serving_parts(panel=panel), "k": 4, "calibrations": calibrations}
    with running(server, **options) as gateway:
        answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=30).json()
    assert answer["choices"][0]["message"]["content"] == LONG
