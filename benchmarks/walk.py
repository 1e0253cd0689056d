"""Through how many modules of darc a command or a request goes: those in which a function ran.

python -m benchmarks.walk [--modules]
"""

import argparse
import contextlib
import inspect
import io
import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from tests.fakes import FakeServer

from benchmarks.report import Table
from darc.cli import main as darc
from darc.engine.parts import Parts
from darc.serve.app import make_app
from darc.serve.settings import ServeSettings

# What was said of the first version, what this count finds in it (commit eaa3a85), and the goals.
FIRST = {"darc run": "93", "darc eval": "62", "darc select": "47", "chat completion": "about 110"}
COUNTED = {"darc run": 100, "darc eval": 93, "darc select": 67, "chat completion": 86}
GOALS = {"darc run": 46, "chat completion": 60}
NO_MODEL = ("--scorer", "form", "--no-guard", "--no-cache")


class Walk:
    """The modules in which functions run while it is on, in all threads begun after it."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.on = False
        threading.setprofile(self._heard)
        sys.setprofile(self._heard)

    def _heard(self, frame: FrameType, event: str, _: Any) -> None:
        # The bodies of modules and classes run once, at the import, and are no step of the walk.
        if self.on and event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            name = str(frame.f_globals.get("__name__", ""))
            if name.partition(".")[0] == "darc":
                self.seen.add(name)

    def of(self, step: Callable[[], None]) -> set[str]:
        """The modules of one step; what is loaded at the first use should be loaded."""
        self.seen, self.on = set(), True
        try:
            step()
        finally:
            self.on = False
        return self.seen


def command(*arguments: str) -> None:
    """A command that must not fail; what it says is not heard."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as e:
        code = darc(list(arguments))
    if code:
        raise RuntimeError(f"darc {arguments[0]} failed: {e.getvalue().strip()}")


def commands(walk: Walk, folder: Path) -> dict[str, set[str]]:
    """The walks of three commands, each made twice so that nothing is imported on the way."""
    answers, ratings = folder / "answers.jsonl", folder / "ratings.csv"
    given = [
        {"prompt_id": p, "candidate_id": c, "prompt": f"Why {p}?", "response": f"It's {p} {c}."}
        for p in ("tides", "bread")
        for c in ("a", "b")
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    rows = [f"p{n % 2},c{n // 2 % 2},r{n // 4},{n % 5}" for n in range(10)]
    ratings.write_text("prompt_id,candidate_id,rater_id,rating\n" + "\n".join(rows) + "\n")
    found = {}
    for turn in ("first", "second"):
        run = str(folder / turn)
        steps = {
            "darc run": (
                "run", "--prompts", str(answers), "--generator", f"given:{answers}", "--out", run,
                "-k", "2", "--n-aug", "2", "--workers", "0", *NO_MODEL,
            ),
            "darc eval": ("eval", run, "--json"),
            "darc select": ("select", str(ratings)),
        }  # fmt: skip
        for name, arguments in steps.items():
            found[name] = walk.of(lambda: command(*arguments))  # noqa: B023
    return found


def request(walk: Walk) -> set[str]:
    """The walk of a chat completion, the second one to a gateway."""
    from starlette.testclient import TestClient

    parts = Parts(scorers=("form",), n_aug=2, guard=False)
    with FakeServer() as backend:
        app = make_app(ServeSettings(backend=backend.url, k=2, parts=parts, workers=0))
        said = {"model": "fake", "messages": [{"role": "user", "content": "Why two tides?"}]}
        with TestClient(app, base_url="http://127.0.0.1") as client:

            def ask() -> None:
                answer = client.post("/v1/chat/completions", json=said)
                assert answer.status_code == 200, answer.text

            ask()
            return walk.of(ask)


def walks() -> dict[str, set[str]]:
    """The modules of each walk."""
    walk = Walk()
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = commands(walk, Path(folder))
        return {**found, "chat completion": request(walk)}
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def table(found: dict[str, set[str]]) -> Table:
    """How many there are, beside the first version and the goals."""
    rows: list[list[object]] = []
    for name, modules in found.items():
        goal = GOALS.get(name)
        reached = None if goal is None else "yes" if len(modules) <= goal else "no"
        rows.append([name, FIRST[name], COUNTED[name], len(modules), goal, reached])
    note = "darc run: two prompts with two given answers; darc select: ten rows; chat: k = 2"
    header = ["walk", "first version", "counted alike", "now", "goal", "reached"]
    return Table("modules of darc in which a function ran", header, rows, note)


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the modules that a command goes through.")
    parser.add_argument("--modules", action="store_true", help="name them")
    given = parser.parse_args()
    found = walks()
    print(table(found).text())
    for name, modules in found.items() if given.modules else ():
        print(f"{name}\n  " + "\n  ".join(sorted(modules)))


if __name__ == "__main__":
    main()
