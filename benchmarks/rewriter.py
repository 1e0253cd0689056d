"""Rewriting by rule on one core, beside an earlier version that forgot rejected rewrites."""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from benchmarks.report import Table

ROOT = Path(__file__).resolve().parent.parent
TEXTS = {"prose": ("texts", "chat", "answers"), "news": ("news",)}
FAMILIES = ("style", "targeted", "hybrid")
BEFORE = "eaa3a85"
ROUNDS = 2
GOAL = 2.0
# Both versions are measured by the same lines, each in a process of its own.
MEASURE = """
import json, sys, time
try:
    from darc.parts.rewriters import RulesRewriter, rewrite_candidate
except ImportError:
    from darc.perturb import RulesRewriter, perturb as rewrite_candidate
from darc.types import Candidate, Message, Prompt

family, *files = sys.argv[1:]
texts = [json.loads(line)["text"] for path in files for line in open(path, encoding="utf-8")]
prompt = Prompt("p", (Message("user", "Can you explain this?"),))
rewriter = RulesRewriter()
rewrite_candidate(prompt, Candidate("p", 0, texts[0]), 8, rewriter, family=family)
started = time.process_time()
results = [
    rewrite_candidate(prompt, Candidate("p", k, text), 8, rewriter, family=family)
    for k, text in enumerate(texts)
]
seconds = time.process_time() - started
accepted = sum(len(result.variants) for result in results)
refused = sum(len(result.rejections) for result in results)
print(json.dumps([1000 * seconds, accepted, refused]))
"""


def measure(source: Path, family: str, files: list[str]) -> list[float]:
    """Milliseconds of processor time, rewrites accepted and refused, by the code in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, family, *files],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    return list(json.loads(done.stdout))


def extract_version(folder: Path, version: str = BEFORE) -> Path | None:
    """The sources of an earlier version, or None where the repository does not have it."""
    done = subprocess.run(["git", "-C", ROOT, "archive", version, "src"], capture_output=True)
    if done.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def versions_beside(folder: Path, version: str = BEFORE) -> dict[str, Path]:
    """The sources of an earlier version, if it can be had, and of this one."""
    before = extract_version(folder, version)
    now = ROOT / "src"
    if before is None:
        return {"now": now}
    return {"before": before, "now": now}


def run(rounds: int = ROUNDS) -> list[Table]:
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        versions = versions_beside(Path(folder))
        for name, stems in TEXTS.items():
            files = [
                str(ROOT / "tests" / "parts" / "rewriters" / f"{stem}.jsonl") for stem in stems
            ]
            for family in FAMILIES:
                best: dict[str, list[float]] = {}
                for _ in range(rounds):
                    for version, source in versions.items():
                        figures = measure(source, family, files)
                        best[version] = min(best.get(version, figures), figures)
                for version, (time, accepted, refused) in best.items():
                    proposed = max(accepted + refused, 1)
                    costs = [time / proposed, time / max(accepted, 1)]
                    rows.append([name, family, version, accepted, refused, *costs])
    header = ["texts", "family", "version", "accepted", "refused", "ms/proposal", "ms/accepted"]
    note = (
        f"up to 8 rewrites of each text, best of {rounds}; goal on prose: {GOAL:g} ms per proposal"
    )
    return [Table("rewriting by rule, one core", header, rows, note)]
