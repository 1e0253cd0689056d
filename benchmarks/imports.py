"""How long `import darc` and `darc --help` take."""

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
    rows: list[list[object]] = []
    met = 0
    limits = 0
    for name, _, limit in COMMANDS:
        verdict = "-"
        if limit is not None:
            limits += 1
            met += best[name] <= limit
            verdict = "yes" if best[name] <= limit else "no"
        rows.append([name, best[name], limit, verdict])
    note = f"best of {ROUNDS} fresh processes; {met} of {limits} limits met"
    return [Table("starting", ["what", "seconds", "limit", "met"], rows, note)]
