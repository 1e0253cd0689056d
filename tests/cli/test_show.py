import json
from pathlib import Path

import pytest
from tests.cli.runs import darc
from tests.helpers import ECHO


@pytest.mark.slow
def test_run_show_export(tmp_path: Path, prompts: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "run"
    done = darc(environment, "run", "--prompts", prompts, "--out", folder, *ECHO)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 prompts by auto")
    assert "score" in done.stdout
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["settings"]["decision"]["normalize"] == "prompt"
    assert [each["name"] for each in manifest["settings"]["scorers"]] == ["brevity", "form"]

    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    again = darc(environment, "run", "--config", folder / "run.toml", "--out", folder, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["prompts"] == 3
    assert {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()} == before

    shown = darc(environment, "show", folder, "81#2", "--rule", "mean", "--json")
    assert json.loads(shown.stdout)["rule"] == "mean"
    whole = darc(environment, "show", folder, "82").stdout
    assert "chosen" in whole
    assert "Best-of-K would have taken" in whole

    darc(environment, "export", folder, "--format", "alpaca", "--name", "me")
    outputs = json.loads((tmp_path / "run.alpaca.json").read_text())
    assert [set(row) for row in outputs] == [{"instruction", "output", "generator", "dataset"}] * 3
    assert {row["generator"] for row in outputs} == {"me"}
    darc(environment, "export", folder, "--format", "mt-bench", "--out", tmp_path / "answers.jsonl")
    answers = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [(row["question_id"], len(row["choices"][0]["turns"])) for row in answers] == [
        (81, 2),
        (82, 1),
    ]
    assert answers[0]["model_id"] == "echo+auto"
    tidy = darc(environment, "export", folder, "--format", "tidy")
    chosen = darc(
        environment, "select", tidy.stdout.strip(), "--rule", "auto:calibration=default", "--json"
    )
    rows = [json.loads(line) for line in chosen.stdout.splitlines()]
    indices = {row["prompt_id"]: row["index"] for row in rows}
    lines = (folder / "shards" / "00000" / "decisions.jsonl").read_text().splitlines()
    assert indices == {(row := json.loads(line))["prompt_id"]: row["index"] for line in lines}
    parquet = darc(environment, "export", folder, "--format", "parquet", "--out", tmp_path / "s.pq")
    assert parquet.returncode == 0, parquet.stderr
