"""The command `darc train`, where no torch is needed."""

import json
import time
from pathlib import Path

import pytest

from darc.cli import main
from darc.parts.scorers.caution_models import read_model

DATA = Path(__file__).parents[1] / "parts" / "scorers" / "discrimination.jsonl"


def test_the_command_refuses_half_of_the_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "train",
        "rdpo",
        "--label-noise",
        "0.5",
        "--data",
        "x.jsonl",
        "--out",
        str(tmp_path / "o"),
    ]
    assert main(command) == 2
    assert "the noise of sup is 0.5" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_presets_name_their_model_and_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "presets", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    paper = next(row for row in rows if row["preset"] == "paper")
    assert paper["model"] == "meta-llama/Llama-3.1-8B-Instruct"
    assert all(row["data"] for row in rows)
    assert main(["train", "presets"]) == 0
    assert "model: meta-llama/Llama-3.1-8B-Instruct" in capsys.readouterr().out


def test_command_trains_in_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started = time.monotonic()
    out = tmp_path / "caution.json"
    assert main(["train", "caution", "--data", str(DATA), "--out", str(out), "--json"]) == 0
    assert time.monotonic() - started < 120
    told = json.loads(capsys.readouterr().out)
    assert told["auc"]["truncated"] > 0.9
    assert read_model(out).report["held_out"] == told["held_out"] == 16


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--form", "encoder"], "--encoder MODEL"),
        (["--target", "x"], "--form features"),
        (["--out", "model.pkl"], "end in .json"),
    ],
)
def test_refusals(more: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "caution", "--data", str(DATA), "--out", "x.json", *more]) == 2
    assert said in capsys.readouterr().err
