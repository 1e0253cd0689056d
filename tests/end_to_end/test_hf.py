"""A whole run on Hugging Face models: generator, rewards, dropout and log-likelihoods."""

import json
from pathlib import Path

import pytest
from tests.checkpoints import causal, pair_reward, reward

from darc.cli import main

pytestmark = pytest.mark.hf


def test_run_with_reward_models_and_side_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    writer = causal(tmp_path / "causal")
    first = reward(tmp_path / "reward")
    second = pair_reward(tmp_path / "pair")
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Write one line about the sea.\nEgg?\n", encoding="utf-8")
    command = [
        *("run", "--prompts", str(prompts), "--out", str(tmp_path / "run"), "--json"),
        *("-k", "3", "--max-tokens", "24", "--n-aug", "2"),
        *("--generator", f"transformers:{writer}"),
        *("--scorer", f"transformers:{first},name=one"),
        *("--scorer", f"transformers:{second},name=two"),
        *("--side", f"dropout=dropout:{second},passes=4"),
        *("--side", f"log_likelihood=loglik:{writer}"),
    ]
    assert main([*command, "--rule", "rbon"]) == 0
    assert json.loads(capsys.readouterr().out)["prompts"] == 2
    assert main([*command, "--rule", "mc_dropout", "--from", "decisions"]) == 0
    lines = (tmp_path / "run/shards/00000/side.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        row = json.loads(line)
        assert [len(passes) for passes in row["dropout"]] == [4, 4, 4]
        assert all(value < 0 for value in row["log_likelihood"])
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert [scorer["name"] for scorer in manifest["settings"]["scorers"]] == ["one", "two"]
    assert manifest["settings"]["decision"]["normalize"] == "prompt"


def test_lookahead_decoding_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    writer = causal(tmp_path / "causal")
    command = ["ask", "Egg?", "--max-tokens", "4", "--n-aug", "1", "--json"]
    deal = ["--generator", f"deal:{writer},k=2,lookahead=2"]
    assert main([*command, *deal, "-k", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["index"] == 0
    assert main([*command, *deal, "-k", "2"]) == 2
    assert "use -k 1" in capsys.readouterr().err
