"""`darc select` on a large file: speed and memory."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.report import Table
from benchmarks.rewriter import versions_beside

PROMPTS = 20_000
CANDIDATES = 16
RATERS = 9
LIMIT = 1000
BEFORE = "e275a50"
# The process reports its own peak: what the system tells its parent would include the parent's.
LAUNCH = """
import resource, sys
from pathlib import Path
from darc.cli import main
code = main(sys.argv[1:])
status = Path("/proc/self/status")
if status.exists():
    lines = status.read_text().splitlines()
    print(next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
sys.exit(code)
"""


def write(path: Path, prompts: int, scattered: bool) -> None:
    """Write a tidy file; scattered goes by rater, so that a prompt's rows are far apart."""
    generator = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write("prompt_id,candidate_id,rater_id,rating\n")
        if scattered:
            for rater in range(RATERS):
                for prompt, row in enumerate(generator.integers(0, 11, (prompts, CANDIDATES))):
                    file.writelines(lines_of(prompt, rater, row))
        else:
            for prompt in range(prompts):
                for rater, row in enumerate(generator.integers(0, 11, (RATERS, CANDIDATES))):
                    file.writelines(lines_of(prompt, rater, row))


def lines_of(prompt: int, rater: int, row: np.ndarray) -> Iterator[str]:
    """One line per candidate."""
    for candidate, rating in enumerate(row):
        yield f"p{prompt},p{prompt}c{candidate},r{rater},{rating}\n"


def measure(path: Path, version: Path) -> tuple[float, float, float]:
    """Seconds, peak MB and processor seconds of `darc select` with two rules, by a version."""
    out = path.with_suffix(".out.csv")
    command = ["select", str(path), "--rule", "mean", "--rule", "epsilon", "--out", str(out)]
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, *command],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(version)},
    )
    seconds = time.perf_counter() - started
    memory, used = map(float, done.stdout.split())
    return seconds, memory, used


def run(prompts: int = PROMPTS) -> list[Table]:
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        versions = versions_beside(Path(folder), BEFORE)
        for name, scattered in (("together", False), ("scattered", True)):
            path = Path(folder) / f"{name}.csv"
            write(path, prompts, scattered)
            for version, sources in versions.items():
                seconds, memory, used = measure(path, sources)
                ratings = prompts * CANDIDATES * RATERS
                rows.append([name, version, prompts, seconds, used, ratings / seconds, memory])
    header = [
        "rows of a prompt",
        "version",
        "prompts",
        "seconds",
        "processor s",
        "ratings/s",
        "peak MB",
    ]
    load = " ".join(f"{average:.1f}" for average in os.getloadavg())
    note = (
        f"the limit for 100,000 prompts is {LIMIT} MB; before: commit {BEFORE}, which read tables "
        f"by itself; {os.cpu_count()} cores, load {load}"
    )
    return [Table("darc select, tidy CSV, two rules", header, rows, note)]
