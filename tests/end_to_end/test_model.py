"""The real embedded model behind `darc ask`, `darc run` and `darc show`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from darc.models.installed import Installed

ROOT = Path(__file__).parents[2]
SMALL = ("-k", "2", "--max-tokens", "12", "--n-aug", "2")


def darc(installed: Installed, *arguments: object) -> subprocess.Popen[str]:
    cache = installed.path.parents[2]
    return subprocess.Popen(
        [sys.executable, "-m", "darc", *map(str, arguments)],
        env={**os.environ, "DARC_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return printed


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.stem != "timings"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_ask(installed: Installed) -> None:
    printed = output(darc(installed, "ask", "Name a colour.", *SMALL, "--json"))
    data = json.loads(printed)
    assert data["answer"]
    assert len(data["candidates"]) == 2


def test_commands_of_the_guide_to_runs(installed: Installed, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "run.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```shell\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "DARC_CACHE": str(installed.path.parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "2 prompts by tau" in done.stdout
    assert len(json.loads((tmp_path / "run.alpaca.json").read_text(encoding="utf-8"))) == 2


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
def test_killed_run_goes_on_to_the_same_bytes(installed: Installed, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(
        '{"id": "a", "turns": ["Name a colour.", "Another one."]}\n{"id": "b", "prompt": "Hi!"}\n',
        encoding="utf-8",
    )
    command = ("run", "--prompts", prompts, *SMALL, "--out")
    whole = output(darc(installed, *command, tmp_path / "whole"))
    assert whole.startswith("3 prompts")
    killed = darc(installed, *command, tmp_path / "killed")
    deadline = time.monotonic() + 120
    while (
        not (tmp_path / "killed/shards/00000/decisions.jsonl").exists()
        and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    output(darc(installed, *command, tmp_path / "killed"))
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    story = output(darc(installed, "show", tmp_path / "whole", "a#2"))
    assert "chosen" in story
