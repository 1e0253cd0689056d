"""How long it takes to begin."""

import subprocess
import sys
import time

from benchmarks.report import Table

COMMANDS = (
    ("import numpy", ("-c", "import numpy"), None),
    ("import darc", ("-c", "import darc"), 0.3),
    ("darc --help", ("-m", "darc", "--help"), 0.5),
)
ROUNDS = 7


def run() -> list[Table]:
    best = dict.fromkeys((name for name, _, _ in COMMANDS), float("inf"))
    for _ in range(ROUNDS):
        for name, arguments, _ in COMMANDS:
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            best[name] = min(best[name], time.perf_counter() - started)
    rows: list[list[object]] = [
        [
            name,
            best[name],
            limit,
            "-" if limit is None else ("yes" if best[name] <= limit else "no"),
        ]
        for name, _, limit in COMMANDS
    ]
    met = sum(row[-1] == "yes" for row in rows)
    note = f"best of {ROUNDS} fresh processes; {met} of 2 limits met"
    return [Table("starting", ["what", "seconds", "limit", "met"], rows, note)]
