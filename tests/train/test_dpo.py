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
from tests.checkpoints import causal
from tests.train.policies import TINY, preferences

from darc.cli import main
from darc.train.losses import Loss

pytestmark = pytest.mark.train


@pytest.mark.parametrize("form", ["dpo", "cdpo", "sup", "unbiased"])
def test_held_out_margin_rises(tmp_path: Path, form: str) -> None:
    from darc.train.dpo import train

    recipe = TINY.changed(model=causal(tmp_path / "model"), steps=16)
    steps: list[tuple[int, int]] = []
    done = train(
        preferences(64),
        preferences(16, seed=1),
        recipe,
        Loss(form),
        tmp_path / "out",
        lambda number, total: steps.append((number, total)),
    )
    assert done.before is not None
    assert done.after is not None
    assert abs(done.before["margin"]) < 1e-6
    assert done.after["margin"] > 0.5
    assert done.after["accuracy"] > 0.9
    assert steps[-1] == (16, 16)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"adapter_model.safetensors", "adapter_config.json", "training.json"} <= names
    assert not names & {"checkpoints", "base", "training_args.bin"}


def test_every_format_is_trained_on(tmp_path: Path) -> None:
    from darc.train.dpo import train

    said = preferences(24)
    texts = [
        {name: row[name][0]["content"] for name in ("prompt", "chosen", "rejected")} for row in said
    ]
    whole = [{name: row["prompt"] + row[name] for name in ("chosen", "rejected")} for row in said]
    model = causal(tmp_path / "model")
    bare = causal(tmp_path / "bare", template=False)
    cases = {
        "texts": (model, texts, "fp32"),
        "whole": (model, whole, "fp32"),
        "half": (model, said, "bf16"),
        "bare": (bare, said, "fp32"),
    }
    for name, (base, rows, dtype) in cases.items():
        recipe = TINY.changed(model=base, steps=6, dtype=dtype)
        done = train(rows[:16], rows[16:], recipe, Loss("cdpo"), tmp_path / f"{name}-out")
        assert done.after is not None
        assert done.after["margin"] > 0.05, name


def command(model: str, data: Path, out: Path, *more: str) -> list[str]:
    return [
        *("train", "cdpo", "--preset", "cpu-small", "--base-model", model, "--data", str(data)),
        *("--out", str(out), "--learning-rate", "0.005", "--steps", "24", "--every", "4"),
        *("--held-out", "0.2", "--lora-dropout", "0.1", "--json", *more),
    ]


def written(folder: Path, count: int = 60) -> Path:
    path = folder / "pairs.jsonl"
    rows = preferences(count)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "darc", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert printed.count("\n") == 1, printed
    found: dict[str, Any] = json.loads(printed)
    return found


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
def test_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    model = causal(tmp_path / "model")
    data = written(tmp_path)
    whole = finished(start(command(model, data, tmp_path / "whole")))
    killed = start(command(model, data, tmp_path / "killed"))
    state = tmp_path / "killed" / "checkpoints" / "checkpoint-8" / "trainer_state.json"
    deadline = time.monotonic() + 120
    while not state.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    # A checkpoint that was never finished is passed over.
    (tmp_path / "killed" / "checkpoints" / "checkpoint-9999").mkdir()
    resumed = finished(start(command(model, data, tmp_path / "killed")))
    assert resumed["resumed_after"] >= 4
    assert resumed["steps"] == whole["steps"] == 24
    one, other = (
        load_file(tmp_path / name / "adapter_model.safetensors") for name in ("whole", "killed")
    )
    assert one.keys() == other.keys()
    for name in one:
        assert np.allclose(one[name], other[name], atol=1e-6), name
    history = [
        json.loads(line)
        for line in (tmp_path / "killed" / "history.jsonl").read_text().splitlines()
    ]
    assert sorted({row["step"] for row in history if "loss" in row}) == list(range(1, 25))
    again = finished(start(command(model, data, tmp_path / "killed")))
    assert again["after"] == resumed["after"]


def test_the_adapter_is_used_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    model = causal(tmp_path / "model")
    data = written(tmp_path)
    policy = tmp_path / "policy"
    assert main(command(model, data, policy)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["after"]["margin"] > told["before"]["margin"] + 0.1
    assert (policy / "training.png").stat().st_size > 5000
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("1 abc?\n2 def?\n3 ghi?\n", encoding="utf-8")
    folders = []
    for name, place in (("base", model), ("policy", str(policy))):
        out = tmp_path / f"run-{name}"
        run = ["run", "--prompts", str(prompts), "--out", str(out), "-k", "2", "--n-aug", "3"]
        run += ["--max-tokens", "60", "--generator", f"transformers:{place}", "--no-guard"]
        assert main(run) == 0
        folders.append(out)
    files = [out / "shards" / "00000" / "candidates.jsonl" for out in folders]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert texts[0] != texts[1]
    capsys.readouterr()
    rules = ["--rule", "epsilon", "--splits", "2", "--draws", "50", "--json"]
    assert main(["eval", *map(str, folders), *rules]) == 0
    shown = capsys.readouterr().out
    assert "run-base" in shown
    assert "run-policy" in shown


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    model = causal(tmp_path / "model")
    data = written(tmp_path)
    if not torch.cuda.is_available():
        out = tmp_path / "gpu"
        assert (
            main(["train", "rdpo", "--data", "none", "--out", str(out), "--base-model", model]) == 1
        )
        assert "needs a CUDA GPU" in capsys.readouterr().err
        assert not out.exists()
    other = ["train", "cdpo", "--preset", "cpu-small", "--base-model", model, "--data", str(data)]
    assert main([*other, "--out", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main([*other, "--out", str(tmp_path / "x"), "--label-noise", "0.6"]) == 2
    assert "noise" in capsys.readouterr().err
