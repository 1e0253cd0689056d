"""The wheel in an environment that has nothing else, and the oldest of what it allows."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import darc, importlib.metadata as metadata
assert metadata.version("darc-decoding") == darc.__version__
assert darc.select([[9, 1, 6], [5, 5, 6]]).index == 1
names = {d.metadata["Name"].lower() for d in metadata.distributions()}
print(sorted(names - {"pip", "setuptools"}))
"""


@pytest.mark.slow
def test_wheel_works_in_a_clean_environment(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("darc_decoding-*.whl")
    home = tmp_path / "clean"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    install = [str(scripts / "python"), "-m", "pip", "install", "-q", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    done = subprocess.run(
        [scripts / "python", "-c", CODE], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    needed = (
        "annotated-types darc-decoding duckdb filelock jinja2 markupsafe numpy pebble platformdirs "
        "pydantic pydantic_core shtab tqdm typing-inspection typing_extensions zstandard"
    )
    assert done.stdout.strip() == str(needed.split())
    table = tmp_path / "r.csv"
    table.write_text("prompt_id,candidate_id,a,b\np,x,1,2\np,y,3,3\n", encoding="utf-8")
    ran = subprocess.run(
        [scripts / "darc", "select", table, "--plot", tmp_path / "x.png"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert f"pip install '{wheel}[plot]'" in ran.stderr
    ran = subprocess.run(
        [scripts / "darc", "select", table, "--csv"], check=True, capture_output=True, text=True
    )
    assert ",y," in ran.stdout


@pytest.mark.slow
def test_doors_hold_with_the_oldest_starlette_that_is_allowed(tmp_path: Path) -> None:
    bound = re.search(r'"starlette>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert bound is not None
    package = ["--no-deps", "--target", str(tmp_path), f"starlette=={bound[1]}"]
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *package], check=True)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    seen = subprocess.run(
        [sys.executable, "-c", "import starlette; print(starlette.__version__)"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout.strip() == bound[1]
    tests = ["tests/serve/test_proxy.py", "tests/serve/test_app.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *tests],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
