"""`darc select` on a large file: speed and memory."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import Table

PROMPTS, CANDIDATES, RATERS = 20_000, 16, 9
LIMIT = 1000


def write(path: Path, prompts: int, scattered: bool) -> None:
    """A tidy file; scattered puts the rows of each prompt all over it."""
    generator = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write("prompt_id,candidate_id,rater_id,rating\n")
        for outer in range(RATERS if scattered else prompts):
            ratings = generator.integers(0, 11, size=(prompts if scattered else RATERS, CANDIDATES))
            for inner, row in enumerate(ratings):
                prompt, rater = (inner, outer) if scattered else (outer, inner)
                file.writelines(
                    f"p{prompt},p{prompt}c{candidate},r{rater},{rating}\n"
                    for candidate, rating in enumerate(row)
                )


def measure(path: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of `darc select` with two rules."""
    command = [sys.executable, "-m", "darc", "select", str(path), "--rule", "mean"]
    command += ["--rule", "epsilon", "--out", str(path.with_suffix(".out.csv"))]
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError("darc select failed")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return time.perf_counter() - started, usage.ru_maxrss / unit


def run(prompts: int = PROMPTS) -> list[Table]:
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, scattered in (("together", False), ("scattered", True)):
            path = Path(folder) / f"{name}.csv"
            write(path, prompts, scattered)
            seconds, memory = measure(path)
            ratings = prompts * CANDIDATES * RATERS
            rows.append([name, prompts, seconds, prompts / seconds, ratings / seconds, memory])
    header = ["rows of a prompt", "prompts", "seconds", "prompts/s", "ratings/s", "peak MB"]
    note = f"the limit for 100,000 prompts is {LIMIT} MB"
    return [Table("darc select, tidy CSV, two rules", header, rows, note)]
