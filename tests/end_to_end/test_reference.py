"""The reference is what the docstrings say today."""

import subprocess
import sys
from pathlib import Path

import darc

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_current() -> None:
    command = [sys.executable, str(DOCS / "make_api.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_there() -> None:
    lines = (DOCS / "api.md").read_text(encoding="utf-8").splitlines()
    assert {f"### {name}" for name in darc.__all__} <= set(lines)
    assert "### evaluate" in lines
