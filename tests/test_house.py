"""Rules of the house that a machine can check."""

import ast
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from darc import __version__
from darc.errors import DISTRIBUTION

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "darc").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_imports_point_one_way() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_distribution_name_stands_in_one_place() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    for path in SOURCES:
        if path.name != "errors.py":
            assert DISTRIBUTION not in path.read_text(encoding="utf-8"), path


def test_versions_agree() -> None:
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_modules_are_small_and_say_what_they_are() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert ast.get_docstring(ast.parse(text)), path
        assert text.count("\n") <= 400, path


def test_starting_is_quick() -> None:
    limits = {("-c", "import darc"): 0.3, ("-m", "darc", "--help"): 0.5}
    for command, limit in limits.items():
        times = []
        for _ in range(3):
            started = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            times.append(time.perf_counter() - started)
        print(f"{' '.join(command)}: {min(times):.2f} s, limit {limit} s")
        assert min(times) < 3 * limit
