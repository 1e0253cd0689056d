"""Print which modules of darc a command or a request passes through, in order.

Usage: python -m benchmarks.walk [--packages]

For each walk the modules stand in the order in which one of their functions first runs. Beside each
package stands how often control returns to it after it was left.
"""

import argparse
import contextlib
import inspect
import io
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tests.fakes import FakeServer

from darc.cli import main as run_darc

# The embedded model is not needed to see the way: one scorer that looks at the form of an answer.
WITHOUT_MODEL = ("--scorer", "form", "--no-guard", "--no-cache")


@dataclass
class Walk:
    """The modules that one command or request passes through."""

    #: Modules in the order in which one of their functions first ran.
    modules: list[str] = field(default_factory=list)
    #: How often control entered each package, coming from another one.
    entries: Counter[str] = field(default_factory=Counter)

    @property
    def packages(self) -> list[str]:
        """The packages in the order in which they were first entered."""
        return list(dict.fromkeys(map(package_of, self.modules)))

    @property
    def returns(self) -> int:
        """How often control came back to a package that it had left."""
        return sum(self.entries.values()) - len(self.entries)


def package_of(module: str) -> str:
    """Return the package of a module: `darc.engine.samples` is in `engine`."""
    parts = module.split(".")
    if len(parts) < 2:
        return module
    return parts[1]


class Tracer:
    """Records function calls in modules of darc, in all threads started after it."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        self._current_package: dict[int, str] = {}
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)

    def _on_event(self, frame: FrameType, event: str, _: Any) -> None:
        walk = self._walk
        if walk is None or event != "call":
            return
        # The bodies of modules and classes run once, at import; they are not steps of the walk.
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] != "darc":
            return
        if module not in walk.modules:
            walk.modules.append(module)
        package = package_of(module)
        thread = threading.get_ident()
        if self._current_package.get(thread) != package:
            self._current_package[thread] = package
            walk.entries[package] += 1

    def trace(self, step: Callable[[], None]) -> Walk:
        """Run a step and return its walk."""
        self._current_package = {}
        walk = Walk()
        self._walk = walk
        try:
            step()
        finally:
            self._walk = None
        return walk

    def close(self) -> None:
        """Stop recording."""
        sys.setprofile(None)
        threading.setprofile(None)


def run_command(*arguments: str) -> None:
    """Run a darc command, which must not fail, and discard what it prints."""
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = run_darc(list(arguments))
    if code:
        raise RuntimeError(f"darc {arguments[0]} failed: {errors.getvalue().strip()}")


def write_answers(path: Path) -> None:
    """Write two prompts with two answers each."""
    rows = [
        {
            "prompt_id": prompt,
            "candidate_id": candidate,
            "prompt": f"Why {prompt}?",
            "response": f"It's {prompt} {candidate}.",
        }
        for prompt in ("tides", "bread")
        for candidate in ("a", "b")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_ratings(path: Path) -> None:
    """Write ten ratings of two candidates to each of two prompts."""
    rows = [f"p{n % 2},c{n // 2 % 2},r{n // 4},{n % 5}" for n in range(10)]
    lines = ["prompt_id,candidate_id,rater_id,rating", *rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def trace_commands(tracer: Tracer, folder: Path) -> dict[str, Walk]:
    """Trace the commands, each run twice so that nothing is imported on the second way."""
    answers = folder / "answers.jsonl"
    ratings = folder / "ratings.csv"
    write_answers(answers)
    write_ratings(ratings)
    walks: dict[str, Walk] = {}
    for attempt in ("first", "second"):
        run_folder = str(folder / attempt)
        sampling = ("--n-aug", "2", *WITHOUT_MODEL)
        own_answers = ("--answer", "The Moon.", "--answer", "It's the Moon.")
        source = ("--prompts", str(answers), "--generator", f"given:{answers}")
        commands: dict[str, tuple[str, ...]] = {
            "darc select": ("select", str(ratings)),
            "darc ask": ("ask", "Why tides?", *own_answers, *sampling),
            "darc run": ("run", *source, "--out", run_folder, "--workers", "0", *sampling),
            "darc eval": ("eval", run_folder, "--json"),
        }
        for name, arguments in commands.items():

            def step(arguments: tuple[str, ...] = arguments) -> None:
                run_command(*arguments)

            walks[name] = tracer.trace(step)
    return walks


def trace_chat_completion(tracer: Tracer) -> Walk:
    """Trace the second chat completion that a gateway answers."""
    from starlette.testclient import TestClient
    from tests.serve.running import settings_for

    from darc.serve.app import make_app

    request = {"model": "fake", "messages": [{"role": "user", "content": "Why two tides?"}]}
    with FakeServer() as backend:
        app = make_app(settings_for(backend, k=2))
        with TestClient(app, base_url="http://127.0.0.1") as client:

            def step() -> None:
                response = client.post("/v1/chat/completions", json=request)
                assert response.status_code == 200, response.text

            step()
            return tracer.trace(step)


def trace_all() -> dict[str, Walk]:
    """Trace every walk, by its name."""
    tracer = Tracer()
    try:
        with tempfile.TemporaryDirectory() as folder:
            walks = trace_commands(tracer, Path(folder))
        walks["POST /v1/chat/completions"] = trace_chat_completion(tracer)
    finally:
        tracer.close()
    return walks


def print_walk(name: str, walk: Walk, packages_only: bool) -> None:
    """Print one walk."""
    print(f"{name}: {len(walk.modules)} modules, control returns {walk.returns} times")
    entries = (f"{package} {walk.entries[package]}" for package in walk.packages)
    print(f"  entered: {', '.join(entries)}")
    if not packages_only:
        for module in walk.modules:
            print(f"    {module}")
    print()


def main() -> None:
    """Print every walk."""
    parser = argparse.ArgumentParser(description="Print the modules that commands pass through.")
    parser.add_argument("--packages", action="store_true", help="print packages, not modules")
    arguments = parser.parse_args()
    for name, walk in trace_all().items():
        print_walk(name, walk, arguments.packages)


if __name__ == "__main__":
    main()
