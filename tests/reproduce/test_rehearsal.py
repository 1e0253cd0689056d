"""The whole experiment on tiny models: killed once, resumed, and its LaTeX compiled."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from darc.models.installed import Installed
from darc.reproduce.figures import FIGURES
from darc.reproduce.paper_tables import TABLES

pytestmark = pytest.mark.rehearsal

KILLED_AFTER = "score Llama-3.1-8B-Instruct / AlpacaEval 2.0 / Base"
MAX_SECONDS = 600


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "darc", "reproduce", "--rehearse", "--out", str(folder), *options]


def kill_after_task(folder: Path, name: str, environment: dict[str, str]) -> list[str]:
    """Start a rehearsal and kill it when the task after this one begins; the tasks begun."""
    process = subprocess.Popen(command(folder), stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    begun: list[str] = []
    for line in process.stderr:
        if " of " in line and ": " in line:
            begun.append(line.strip().partition(": ")[2])
        if len(begun) > 1 and begun[-2] == name:
            os.kill(process.pid, signal.SIGKILL)
            break
    process.stderr.close()
    process.wait()
    return begun


def run(
    folder: Path, environment: dict[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *options), capture_output=True, text=True, check=False, env=environment
    )


def test_rehearsal(tmp_path: Path, installed: Installed) -> None:
    environment = {**os.environ, "DARC_CACHE": str(installed.path.parents[2])}
    started = time.monotonic()
    folder = tmp_path / "rehearsal"
    begun = kill_after_task(folder, KILLED_AFTER, environment)
    done_before = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    assert begun[-1] not in done_before
    second = run(folder, environment, "--json")
    assert second.returncode == 0, second.stderr
    seconds = time.monotonic() - started
    print(f"rehearsal, killed once: {seconds:.0f} s, limit {MAX_SECONDS} s")
    begun_again = {line.partition(": ")[2] for line in second.stderr.splitlines()}
    assert not begun_again & set(done_before)
    assert begun[-1] in begun_again
    state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    assert all(state[name] == row for name, row in done_before.items())

    result = json.loads(second.stdout)
    assert set(result["tables"]) == set(TABLES)
    figures = " ".join(result["figures"])
    assert all(name.removesuffix("s") in figures for name in FIGURES)
    for name in TABLES:
        for ending in (".csv", ".md", ".tex"):
            assert (folder / "tables" / f"{name}{ending}").stat().st_size > 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    # The reward of the base in the paper's main table.
    assert '<span class="printed">4.53</span>' in page
    check_latex(folder / "tables")

    third = run(folder, environment)
    assert third.returncode == 0, third.stderr
    assert "1 of" not in third.stderr
    assert seconds < MAX_SECONDS


def check_latex(folder: Path) -> None:
    """Compile the document of all tables."""
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    compiled = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stdout[-2000:]
    assert (folder / "tables.pdf").stat().st_size > 10_000
