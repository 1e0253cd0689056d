"""Memory stays bounded however many rows there are."""

import subprocess
import sys
from pathlib import Path

import pytest

import darc

PROMPTS = 5_000
CANDIDATES = 16
RATERS = 9
MEMORY_MB = 50
BOUND_MB = 150

PROGRAM = """
import resource, sys
import duckdb
import numpy as np
from darc.ratings import read_ratings

def peak():
    # Linux counts the parent's memory at the fork into ru_maxrss, but not into VmHWM.
    if sys.platform == "linux":
        with open("/proc/self/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) / 1024 for line in status if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

before = peak()
ratings = 0
with read_ratings(sys.argv[1], memory_mb=int(sys.argv[2]), batch_rows=20_000) as table:
    for batch in table.batches():
        ratings += int(np.isfinite(batch.samples).sum())
print(table.rows, ratings, peak() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
@pytest.mark.parametrize("scattered", [False, True])
def test_peak_memory(tmp_path: Path, scattered: bool) -> None:
    path = tmp_path / "ratings.csv"
    orders = [(p, r) for p in range(PROMPTS) for r in range(RATERS)]
    if scattered:
        orders = [(p, r) for r in range(RATERS) for p in range(PROMPTS)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write("prompt_id,candidate_id,rater_id,rating\n")
        for p, r in orders:
            stream.write("".join(f"{p},{p}-{k},rater {r},{k}\n" for k in range(CANDIDATES)))
    source = str(Path(darc.__file__).parent.parent)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(MEMORY_MB)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env={"PYTHONPATH": source, "TMPDIR": str(tmp_path)},
    )
    rows, ratings, grown = result.stdout.split()
    assert int(rows) == int(ratings) == PROMPTS * CANDIDATES * RATERS
    print(grown)
    assert float(grown) < BOUND_MB
