"""A whole run against a server: answers, rewrites, rewards and grades over real HTTP."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.fakes import FakeServer, Fault
from tests.helpers import run_command

ANSWERS = (
    "The Moon pulls on the sea, and so the water rises twice a day.",
    "Nobody can say, but it's often the Moon, for example.",
    "It happens because the Earth turns below two bulges of water.",
)


def reply(body: dict[str, Any], index: int) -> str:
    """A grade for a judge, a rewrite for an editor, else an answer."""
    system = body["messages"][0]["content"]
    if body["messages"][0]["role"] == "system" and "edit answers" in system:
        text = body["messages"][-1]["content"].split("<answer>\n")[1].split("\n</answer>")[0]
        return text.replace("and so", "so").replace("because", "since").replace("it's", "it is")
    if body.get("max_tokens", 99) <= 16 or body.get("max_completion_tokens", 99) <= 16:
        return str(4 + len(str(body["messages"])) % 5)
    return ANSWERS[(int(body.get("seed") or 0) + index) % 3]


def darc(*arguments: object, cache: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "darc", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "DARC_CACHE": str(cache)},
    )


def test_run_on_a_server_with_faults(openai_server: FakeServer, tmp_path: Path) -> None:
    openai_server.reply = reply
    openai_server.faults = [
        Fault(status=429, headers={"Retry-After": "0"}),
        Fault("malformed"),
        Fault("reset"),
    ]
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Why are there tides?\nWhy is there rain?\n", encoding="utf-8")
    url = openai_server.url
    command = (
        *("run", "--prompts", prompts, "--out", tmp_path / "run", "-k", 3, "--n-aug", 1),
        *("--generator", f"openai:small@{url}/v1", "--rewriter", f"llm:small@{url}/v1"),
        *("--scorer", f"judge:small@{url}/v1", "--scorer", f"{url}/classify"),
    )
    done = darc(*command, cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 prompts by auto")
    lines = (
        (tmp_path / "run" / "shards" / "00000" / "scores.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    rows = [json.loads(line) for line in lines]
    assert [len(row["scores"]) for row in rows] == [2, 2]
    paths = {received.path for received in openai_server.received}
    assert paths == {"/v1/chat/completions", "/classify"}
    before = len(openai_server.received)
    with patch.dict(os.environ, {"DARC_CACHE": str(tmp_path / "cache")}):
        again = run_command(*command)
    assert again.returncode == 0, again.stderr
    assert len(openai_server.received) == before


@pytest.mark.slow
def test_server_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = darc(
        *("ask", "Why?", "-k", 2, "--generator", "openai:m@http://127.0.0.1:9/v1,timeout=1"),
        cache=tmp_path,
    )
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
