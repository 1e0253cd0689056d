"""The examples that newcomers see first keep their choice under small changes of the ratings."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import darc

ROOT = Path(__file__).parents[2]
LARGEST_CHANGE = 0.3


def readme_ratings() -> Any:
    """The ratings of the first example of README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert block is not None
    names: dict[str, Any] = {}
    exec(block[1].partition("decision =")[0], names)
    return names["ratings"]


def notebook_ratings() -> Any:
    """The ratings of the first example of the notebook."""
    notebook = json.loads((ROOT / "examples" / "quickstart.ipynb").read_text(encoding="utf-8"))
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    names: dict[str, Any] = {}
    exec("".join(code["source"]).partition("names =")[0], names)
    return names["ratings"]


def demo_ratings(folder: Path) -> Any:
    """The ratings of the toasts that `make demo` shows, the story and the roast first."""
    path = folder / "ratings.csv"
    script = ROOT / "examples" / "simulate_ratings.py"
    subprocess.run([sys.executable, script, path], check=True)
    found: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        prompt, candidate, _, rating = line.split(",")[:4]
        if prompt == "prompt 1":
            found.setdefault(candidate, []).append(float(rating))
    return [found.pop("the roast"), found.pop("the story"), *found.values()]


@pytest.mark.parametrize("example", ["README", "notebook", "demo"])
def test_the_choice_holds_when_every_rating_moves_a_little(example: str, tmp_path: Path) -> None:
    if example == "README":
        ratings = readme_ratings()
    elif example == "notebook":
        ratings = notebook_ratings()
    else:
        ratings = demo_ratings(tmp_path)
    pool = np.array(ratings, dtype=float)
    assert darc.select(pool).index == 1
    assert darc.select(pool, rule="mean").index == 0
    generator = np.random.default_rng(0)
    for _ in range(300):
        moved = pool + generator.uniform(-LARGEST_CHANGE, LARGEST_CHANGE, pool.shape)
        assert darc.select(moved).index == 1
    # All ratings of the calm answer may fall together.
    lower = pool.copy()
    lower[1] -= LARGEST_CHANGE
    assert darc.select(lower).index == 1
