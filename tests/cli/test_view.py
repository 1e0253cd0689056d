import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
from tests.viewer.makers import write_ratings

from darc.cli import main


@contextmanager
def view(folder: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the address that it prints."""
    command = [sys.executable, "-m", "darc", "view", *map(str, arguments)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_until_it_is_told_to_stop(tmp_path: Path, number: int) -> None:
    ratings = write_ratings(tmp_path / "toasts.csv")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with view(temporary, ratings) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert "1 to 12 of 12" in httpx.get(url).text
        assert len(list(temporary.iterdir())) == 1
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
        code = 130 if number == signal.SIGINT else -signal.SIGTERM
        assert process.returncode == code
    assert "Traceback" not in errors
    assert list(temporary.iterdir()) == []


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = write_ratings(tmp_path / "toasts.csv", prompts=2)
    with view(tmp_path, ratings) as (_, url):
        port = url.rstrip("/").rpartition(":")[2]
        assert main(["view", str(ratings), "--port", port]) == 1
    assert f":{port}" in capsys.readouterr().err


def test_input_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
    broken = tmp_path / "ratings.csv"
    broken.write_text("prompt_id,candidate_id,rater_id,rating\np,a,r,many\n")
    assert main(["view", str(broken)]) == 2
    assert "ratings.csv, line 2" in capsys.readouterr().err


def test_without_the_extra_the_command_that_installs_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings = write_ratings(tmp_path / "toasts.csv", prompts=2)
    with patch.dict(sys.modules, {"uvicorn": None}):
        assert main(["view", str(ratings)]) == 1
    assert "[serve]" in capsys.readouterr().err
