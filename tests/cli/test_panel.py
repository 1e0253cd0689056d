"""`darc ask`, `run`, `show` and `serve` with a panel, on the fake server."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.test_panel_samples import ANSWERS, VIEWS, graded, pool
from tests.fakes import FakeServer
from tests.fakes.answers import number
from tests.runs.makers import contents, rows

import darc
from darc.analysis.run_ratings import load_run
from darc.cli import main
from darc.runs.folder import RunFolder

Out = pytest.CaptureFixture[str]


def grading(body: dict[str, Any]) -> bool:
    return "grade answers" in body["messages"][0]["content"]


def reply(body: dict[str, Any], index: int) -> str:
    """Answers that differ, and grades that depend on who reads what."""
    if grading(body):
        return str(number(body["messages"], body["seed"]) % 11)
    return f"Answer {number(body['messages'], body['seed'], index) % 1000} is about the Moon."


@pytest.fixture
def server(
    openai_server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FakeServer:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = reply
    return openai_server


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    turns = [["Why are there tides?", "And then?"], ["Why is the sky blue?"], ["Why rain?"]]
    path.write_text("".join(json.dumps({"id": i, "turns": t}) + "\n" for i, t in enumerate(turns)))
    return path


def model(server: FakeServer) -> list[str]:
    return ["--generator", f"openai:fake@{server.url},key_env="]


def separately(server: FakeServer) -> list[str]:
    return [*model(server), "--panel-mode", "separate"]


def test_ask_says_what_it_costs_and_where_raters_differ(server: FakeServer, capsys: Out) -> None:
    assert main(["ask", "Why?", *separately(server), "-k", "4"]) == 0
    told = capsys.readouterr()
    assert "a panel of 8 raters grades 4 answers: at most 32 calls, about " in told.err
    assert "raters differ by " in told.err
    assert " of 32 grades; " in told.err
    assert told.out.startswith("Answer ")


@pytest.mark.parametrize(
    ("given", "calls"), [(["--panel", "1"], 3), (["--panel", "1", "--repeats", "2"], 6)]
)
def test_single_judge(server: FakeServer, given: list[str], calls: int, capsys: Out) -> None:
    assert main(["ask", "Why?", *separately(server), "-k", "3", "--json", *given]) == 0
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert f"one rater grades 3 answers: at most {calls} calls, and" in told.err
    assert data["panel"]["raters"] == ["hurried"]
    assert data["panel"]["asked"] == calls
    assert (data["panel"]["noise"] is not None) == (calls == 6)


def test_own_answers_are_graded_by_the_judge_that_is_named(
    server: FakeServer, tmp_path: Path, capsys: Out
) -> None:
    table = pool(0)
    server.reply = graded(table)
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS))
    page = tmp_path / "page.html"
    answers = ["--answers", str(tmp_path / "answers.json"), "--html", str(page), "--json"]
    judge = ["--panel", f"judge:other@{server.url},key_env="]
    assert main(["ask", "Why?", *answers, *judge]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["index"] == darc.select(table, "epsilon").index
    assert {body["model"] for body in server.bodies} == {"other"}
    assert "second-language" in page.read_text()


def test_a_server_with_one_model_needs_only_its_url(server: FakeServer, capsys: Out) -> None:
    assert (
        main(
            [
                "ask",
                "Why?",
                "--generator",
                f"{server.url}/v1",
                "-k",
                "2",
                "--json",
                "--panel-mode",
                "separate",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["panel"]["asked"] > 0
    assert {body["model"] for body in server.bodies} == {"fake"}
    server.models = ["fake", "other"]
    assert main(["ask", "Why?", "--generator", f"{server.url}/v1", "-k", "2"]) == 2
    assert "lists fake, other; name the model: openai:MODEL@" in capsys.readouterr().err


def test_the_ways_of_judging_are_options(server: FakeServer, capsys: Out) -> None:
    server.reply = lambda body, i: (
        '{"grades": [9, 2, 2, 3]}' if grading(body) else f"Answer {i} of {body.get('seed')}."
    )
    command = ["ask", "Why?", *model(server), "-k", "4", "--json"]
    assert main([*command, "--panel-waves", "2", "--panel-mode", "listwise"]) == 0
    assert json.loads(capsys.readouterr().out)["panel"]["asked"] in (4, 8)
    server.reply = lambda body, i: f"A{i}" if len(body["messages"]) == 1 else "A"
    assert main([*command, "--panel-mode", "pairwise", "--panel", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["panel"]["asked"] == 2 * 6 * 2
    assert main([*command, "--panel-waves", "3"]) == 2
    assert main([*command, "--panel-waves", "2", "--scorer", "form"]) == 2
    assert "--panel-waves needs a panel" in capsys.readouterr().err


def test_scorers_bring_rewrites_back(server: FakeServer, capsys: Out) -> None:
    scorer = ["--scorer", "form", "--n-aug", "1", "--json"]
    assert main(["ask", "Why?", *model(server), "-k", "2", *scorer]) == 0
    assert "panel" not in json.loads(capsys.readouterr().out)
    assert not any(grading(body) for body in server.bodies)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--panel", "2", "--scorer", "form"], "a panel and scorers are given"),
        (["--repeats", "2", "--scorer", "form"], "--repeats needs a panel"),
        (["--repeats", "0"], "repeats is 0"),
        (["--criteria", "a,,b"], "criteria[1] is ''"),
        (["--panel", "x"], "'x' is not a panel"),
    ],
)
def test_options_that_do_not_go_together(
    server: FakeServer, given: list[str], words: str, capsys: Out
) -> None:
    assert main(["ask", "Why?", *model(server), *given]) == 2
    assert words in capsys.readouterr().err


def test_a_panel_without_a_model_is_refused(tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "answers.json").write_text('["yes", "no"]')
    assert main(["ask", "Why?", "--answers", str(tmp_path / "answers.json"), "--panel"]) == 2
    assert "no model to judge by; write --panel judge:MODEL@URL" in capsys.readouterr().err


def test_missing_grades_are_told(server: FakeServer, capsys: Out) -> None:
    expert = VIEWS["expert"]
    server.reply = lambda body, i: (
        "no idea" if expert in body["messages"][0]["content"] else reply(body, i)
    )
    command = ["ask", "Why?", *separately(server), "-k", "3", "--full"]
    assert main([*command, "--json"]) == 0
    assert "missing_grades:3" in json.loads(capsys.readouterr().out)["flags"]
    assert main([*command, "--missing", "refuse"]) == 1
    assert "expert said 'no idea' where a number was asked for" in capsys.readouterr().err


DIVISIVE = [9, 9, 9, 9, 9, 2, 2, 2]
CALM = [5] * 8


@pytest.fixture
def divided(server: FakeServer, tmp_path: Path) -> list[str]:
    """The options of two answers, of which one divides the panel."""
    server.reply = graded(np.array([DIVISIVE, CALM]))
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS[:2]))
    judge = f"judge:other@{server.url},key_env="
    return [
        "ask",
        "Why?",
        "--answers",
        str(tmp_path / "answers.json"),
        "--panel",
        judge,
        "--full",
        "--panel-mode",
        "separate",
    ]


def test_caution_decides_and_people_are_shown(divided: list[str], capsys: Out) -> None:
    assert main(divided) == 0
    told = capsys.readouterr()
    answer, _, sentence, _, header, _, first, second, definition, *_ = told.out.splitlines()
    assert answer == ANSWERS[1]
    assert sentence.startswith("candidate 1, not candidate 0: ")
    assert "3 of 8 are unhappy with it" in sentence
    assert header.split()[:4] == ["answer", "mean", "unhappy", "ratings"]
    assert "3 of 8" in first
    assert "Best-of-K" in first
    assert "0 of 8" in second
    assert "auto" in second
    assert definition.startswith("unhappy: below 5, the middle of the scale 0 to 10; ")
    assert "sigma" not in told.out
    assert "Note: " not in told.err
    assert main([*divided, "--caution", "none", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["index"] == 0
    assert data["people"]["caution"] == 0
    assert data["held"] is False


def test_poor_answers_are_said_to_be_poor_after_the_answer(
    divided: list[str], server: FakeServer, capsys: Out
) -> None:
    server.reply = graded(np.array([[1] * 8, [2] * 8]))
    assert main(divided) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [ANSWERS[1], "", "None of these answers is good."]
    assert main([*divided, "--poor-below", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held"] is False


def test_a_run_remembers_caution_and_standards(
    server: FakeServer, prompts: Path, capsys: Out
) -> None:
    server.reply = graded(np.array([DIVISIVE, CALM] * 4))
    options = ["--caution", "high", "--threshold", "6", "--scale", "0-10"]
    folder = run(server, prompts, "run", *options)
    decision = RunFolder(folder).manifest()["settings"]["decision"]
    assert decision["caution"] == 2
    assert decision["standards"] == {"scale": [0, 10], "threshold": 6}
    rows_before = rows(RunFolder(folder), "decisions.jsonl")
    assert {row["people"]["caution"] for row in rows_before.values()} == {2}
    assert main(["run", "--config", str(folder / "run.toml"), "--out", str(folder)]) == 0
    assert "of their ratings are of unhappy raters" in capsys.readouterr().out
    assert main(["show", str(folder), "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["people"] == rows_before["1"]["people"]
    again = ["--caution", "none", "--threshold", "5"]
    assert main(["show", str(folder), "1", "--json", *again]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["people"]["caution"] == 0
    assert shown["people"]["unhappy_below"] == 5
    assert shown["people"]["scale"] == [0, 10]
    assert main(["show", str(folder), "1", "--rule", "mean", "--details"]) == 0
    assert "sigma" in capsys.readouterr().out
    assert main(["show", str(folder), "1", "--rule", "mean", "--caution", "low"]) == 2
    assert "it belongs to auto" in capsys.readouterr().err
    files = ["--prompts", str(prompts), "--out", str(folder), "--no-cache"]
    assert main(["run", *files, *separately(server), "-k", "3"]) == 2
    assert "its decision differs (caution" in capsys.readouterr().err


def test_a_run_with_the_usual_caution_is_that_of_an_earlier_version(
    server: FakeServer, prompts: Path
) -> None:
    folder = run(server, prompts, "run", "--caution", "medium")
    decision = RunFolder(folder).manifest()["settings"]["decision"]
    assert decision.keys() == {"rule", "beta", "gamma", "normalize", "min_samples"}
    run(server, prompts, "run")


def test_exported_grades_have_the_names_of_the_raters(server: FakeServer, prompts: Path) -> None:
    folder = run(server, prompts, "run", "--panel", "2")
    path = prompts.with_name("scores.csv")
    assert main(["export", str(folder), "--format", "tidy", "--out", str(path)]) == 0
    names = {line.split(",")[2] for line in path.read_text().splitlines()[1:]}
    assert names == set(list(VIEWS)[:2])


def run(server: FakeServer, prompts: Path, out: str, *more: str) -> Path:
    folder = prompts.with_name(out)
    files = ["--prompts", str(prompts), "--out", str(folder), "--no-cache"]
    assert main(["run", *files, *separately(server), "-k", "3", *more]) == 0
    return folder


def choices(folder: Path) -> dict[str, int]:
    return {key: row["index"] for key, row in rows(RunFolder(folder), "decisions.jsonl").items()}


def test_run_writes_grades_and_the_same_bytes_again(
    server: FakeServer, prompts: Path, capsys: Out
) -> None:
    criteria = ["--panel", "3", "--repeats", "2", "--criteria", "accuracy,tone"]
    base = reply

    def both(body: dict[str, Any], i: int) -> str:
        if not grading(body):
            return base(body, i)
        place = number(body["messages"], body["seed"])
        return f"accuracy: {place % 11}\ntone: {place // 11 % 11}"

    server.reply = both
    one, two = (run(server, prompts, name, *criteria) for name in ("one", "two"))
    assert contents(one) == contents(two)
    folder = RunFolder(one)
    names = list(VIEWS)[:3]
    for row in rows(folder, "scores.jsonl").values():
        assert row["raters"] == names
        assert row["criteria"] == ["accuracy", "tone"]
        grades = np.array(row["grades"], dtype=float)
        assert grades.shape == (2, 3, 3, 2)
        assert row["scores"] == [grades.mean(axis=(0, 3)).tolist()]
    for key, row in rows(folder, "decisions.jsonl").items():
        grades = np.array(rows(folder, "scores.jsonl")[key]["grades"]).mean(axis=0)
        assert row["noise"] == pytest.approx(grades.var(axis=2, ddof=1).mean() ** 0.5)
    settings = folder.manifest()["settings"]
    assert [rater["name"] for rater in settings["panel"]["rater"]] == names
    assert load_run(one).rater_names == names
    capsys.readouterr()
    assert main(["show", str(one), "0", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["index"] == rows(folder, "decisions.jsonl")["0"]["index"]


def test_lazy_run_is_resumed_completed_and_shown(
    server: FakeServer, prompts: Path, capsys: Out
) -> None:
    full = run(server, prompts, "full")
    lazy = run(server, prompts, "lazy", "--lazy")
    before = choices(lazy)
    assert main(["show", str(lazy), "1"]) == 0
    asked = len(server.received)
    run(server, prompts, "lazy", "--lazy")
    assert len(server.received) == asked
    for name in ("scores.jsonl", "decisions.jsonl"):
        path = lazy / "shards" / "00000" / name
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    run(server, prompts, "lazy", "--lazy")
    assert choices(lazy) == before
    assert main(["run", "--config", str(lazy / "run.toml"), "--out", str(lazy), "--complete"]) == 0
    assert contents(lazy) == contents(full)
    assert {
        key: row["index"] for key, row in rows(RunFolder(full), "decisions.jsonl").items()
    } == before


def test_missing_grades_of_a_run_are_not_asked_for_again(
    server: FakeServer, prompts: Path, capsys: Out
) -> None:
    sceptic = VIEWS["sceptic"]
    server.reply = lambda body, i: (
        "no" if sceptic in body["messages"][0]["content"] else reply(body, i)
    )
    out = run(server, prompts, "run", "--missing", "pessimistic")
    folder = RunFolder(out)
    for row in rows(folder, "scores.jsonl").values():
        assert row["missing"] == [[k, 3] for k in range(3)]
        assert [own[3] for own in row["scores"][0]] == [0, 0, 0]
    for row in rows(folder, "decisions.jsonl").values():
        assert {"missing_grades:3", "rater_failed:sceptic"} <= set(row["flags"])
    asked = len(server.received)
    before = rows(folder, "scores.jsonl")
    (out / "shards" / "00000" / "decisions.jsonl").unlink()
    run(server, prompts, "run", "--missing", "pessimistic")
    assert len(server.received) == asked
    assert rows(RunFolder(out), "scores.jsonl") == before
    assert "flagged missing_grades: 4" in capsys.readouterr().out


def test_another_panel_is_another_run(
    server: FakeServer, prompts: Path, tmp_path: Path, capsys: Out
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[[rater]]\nname = "nurse"\nview = "A nurse."\n')
    out = run(server, prompts, "run", "--panel", str(own))
    own.write_text('[[rater]]\nname = "nurse"\nview = "A tired nurse."\n')
    files = ["--prompts", str(prompts), "--out", str(out), "--no-cache", "--panel", str(own)]
    assert main(["run", *files, *separately(server), "-k", "3"]) == 2
    assert "--from scores" in capsys.readouterr().err
    assert main(["run", *files, *separately(server), "-k", "3", "--from", "scores"]) == 0


def test_an_endless_thought_is_a_candidate_fewer_in_a_run(
    server: FakeServer, prompts: Path
) -> None:
    def thinking(body: dict[str, Any], i: int) -> str:
        if grading(body):
            return "7"
        return "<think>Hm" if i == 1 else f"<think>Hm.</think>{reply(body, i)}"

    server.reply = thinking
    folder = RunFolder(run(server, prompts, "run", "--panel", "2"))
    for row in rows(folder, "candidates.jsonl").values():
        assert row["failed"] == 1
        assert [c["index"] for c in row["candidates"]] == [0, 1]
        assert all(c["text"].startswith("Answer") for c in row["candidates"])
    assert all(
        "fewer_candidates" in row["flags"] for row in rows(folder, "decisions.jsonl").values()
    )


@pytest.mark.parametrize("cap", [0, 16])
def test_serve_says_what_an_answer_costs(server: FakeServer, cap: int) -> None:
    pytest.importorskip("starlette")
    command = [sys.executable, "-m", "darc", "serve", "--port", "0", "--backend", server.url]
    process = subprocess.Popen(
        [*command, "--max-upstream-calls", str(cap)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith("serving ")
        cost = process.stderr.readline()
        total = process.stderr.readline()
        room = process.stderr.readline() if cap else ""
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert "a panel of 8 raters grades 8 answers: at most 9 calls" in cost
    assert " tokens " in cost
    assert "at most 17 backend calls" in total
    assert cap == 0 or "raise it to 17 or more" in room
