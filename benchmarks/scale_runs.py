"""Runs of many prompts: seconds, processor seconds and peak memory, and whether stages overlap."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gateway import started
from darc.engine.engine import Engine
from darc.parts.generators.base import SamplingParameters
from darc.runs.folder import RunFolder
from darc.runs.manifest import make_manifest
from darc.runs.questions import Question
from darc.runs.run import WINDOW
from darc.runs.run import run as run_all
from darc.types import Candidate, Prompt

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [
    ROOT / "tests" / "parts" / "rewriters" / f"{stem}.jsonl"
    for stem in ("texts", "answers", "chat")
]
LATENCY = 0.05
K = 4
# So many calls at a time that both stages take equally long: one call per prompt, and K.
WRITING = 4
GRADING = 4 * K
# Any version of DARC with answers that cost nothing; workers never make the generator.
LAUNCH = """
import itertools, json, resource, sys, time
from pathlib import Path
from darc.cli import main
from darc.registry import generator
from darc.types import Candidate

files, *arguments = sys.argv[1:]
texts = [json.loads(line)["text"] for path in files.split(":") for line in open(path)]

@generator("recited", "")
class Recited:
    name = "recited"
    version = "1"

    def generate(self, prompts, settings, report=None):
        return [self.answers(prompt, settings.k) for prompt in prompts]

    def answers(self, prompt, k):
        first = sum(map(ord, prompt.id)) * k
        answers = []
        for i in range(k):
            text = f"{texts[(first + i) % len(texts)]} This is answer {prompt.id}."
            answers.append(Candidate(prompt.id, i, text, len(text.split())))
        return answers

begun = time.perf_counter()
code = main(arguments)
seconds = time.perf_counter() - begun
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
status = Path("/proc/self/status")
if status.exists():
    lines = status.read_text().splitlines()
    peak = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
else:
    peak = spent[0].ru_maxrss / 2**20
processor = sum(usage.ru_utime + usage.ru_stime for usage in spent)
print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak}))
sys.exit(code)
"""


@dataclass(frozen=True)
class Measured:
    """What one `darc run` took; the peak is the main process's, in MB."""

    seconds: float
    processor: float
    peak: float


def command(
    source: Path, folder: Path, prompts: int, *options: str, generator: str = "recited"
) -> Measured:
    """`darc run` by the code in `source` on so many prompts; a second time it goes on."""
    path = folder / f"prompts-{prompts}.txt"
    if not path.exists():
        path.write_text("".join(f"What is known about number {i}?\n" for i in range(prompts)))
    files = ":".join(map(str, TEXTS))
    out = folder / f"run-{prompts}"
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, files, "run", "--prompts", str(path), "--out", str(out),
         "--generator", generator, "--no-cache", "--json", *options],
        capture_output=True, text=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source)},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"darc run failed: {done.stderr.strip()[-500:]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def paper(source: Path, prompts: int) -> Measured:
    """K 4, four rewrites each, the scorer `form`: what a core spends its time on."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("-k", str(K), "--n-aug", "4", "--scorer", "form")
        return command(source, Path(folder), prompts, *options)


@dataclass(frozen=True)
class Growth:
    """A small and a large run of cheap prompts, and going on with the large one when it is done."""

    sizes: tuple[int, int]
    start: Measured
    small: Measured
    large: Measured
    again: Measured
    size: int

    def per_prompt(self, what: str) -> tuple[float, float]:
        """Milliseconds per prompt of the small and of the large run, the start left out."""
        small_size, large_size = self.sizes
        base = getattr(self.start, what)
        small = (getattr(self.small, what) - base) * 1000 / (small_size - START)
        large = (getattr(self.large, what) - base) * 1000 / (large_size - START)
        return small, large

    @property
    def memory(self) -> float:
        """MB for each further thousand prompts."""
        return (self.large.peak - self.small.peak) * 1000 / (self.sizes[1] - self.sizes[0])


START = 10


def growth(source: Path, small: int, large: int) -> Growth:
    """Two answers, one rewrite of each, the scorer `form`.

    The small run is made before and after the large one, since a machine's speed drifts.
    """
    options = ("-k", "2", "--n-aug", "1", "--scorer", "form", "--no-guard")
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
        folder = Path(name)
        start = command(source, folder, START, *options)
        first = command(source, folder, small, *options)
        most = command(source, folder, large, *options)
        last = command(source, Path(other), small, *options)
        resumed = [command(source, folder, large, *options) for _ in range(2)]
        again = min(resumed, key=lambda run: run.seconds)
        files = (folder / f"run-{large}").rglob("*.jsonl")
        size = sum(path.stat().st_size for path in files)
    mean = Measured(
        seconds=(first.seconds + last.seconds) / 2,
        processor=(first.processor + last.processor) / 2,
        peak=(first.peak + last.peak) / 2,
    )
    return Growth(sizes=(small, large), start=start, small=mean, large=most, again=again, size=size)


@dataclass(frozen=True)
class Overlap:
    """Seconds of writing alone, of scoring alone, and of a run that does both."""

    writing: float
    grading: float
    run: float
    before: float | None = None

    @property
    def over(self) -> float:
        """How much longer the run takes than its slower stage."""
        return self.run / max(self.writing, self.grading) - 1


def overlap(prompts: int, earlier: Path | None = None) -> Overlap:
    """A generator and a judge that both take 50 ms per call, each behind a server of its own."""
    server = ("-m", "tests.fakes.fast_server", str(LATENCY))
    with started(*server) as writer, started(*server) as grader:
        model = f"openai:fake@http://127.0.0.1:{writer}/v1,concurrency={WRITING},key_env="
        judge = f"judge:fake@http://127.0.0.1:{grader}/v1,concurrency={GRADING},key_env="
        questions = [Question(str(i), (f"What is known about {i}?",)) for i in range(prompts)]
        sampling = SamplingParameters(k=K, max_tokens=64)
        with (
            tempfile.TemporaryDirectory() as name,
            Engine(
                model, scorers=[judge], rule="mean", n_aug=0, sampling=sampling, guard=False
            ) as engine,
        ):
            written: dict[str, list[Candidate]] = {}

            async def write(prompt: Prompt) -> None:
                samples = await engine.write_candidates(engine.new_samples(prompt))
                written[prompt.id] = samples.candidates

            async def grade(prompt: Prompt) -> None:
                await engine.decide(prompt, written[prompt.id], score_everything=True)

            prompts_of_run = [question.prompt() for question in questions]
            writing = engine.run(_timed(write, prompts_of_run))
            grading = engine.run(_timed(grade, prompts_of_run))
            folder = RunFolder(Path(name) / "run")
            folder.open({**make_manifest("overlap", engine), "shard_size": 1000})
            begun = time.perf_counter()
            run_all(folder, questions, engine)
            both = time.perf_counter() - begun
            folder.close()
        if earlier is None:
            return Overlap(writing, grading, both)
        options = ("-k", str(K), "--n-aug", "0", "--scorer", judge, "--rule", "mean", "--no-guard")
        with tempfile.TemporaryDirectory() as name:
            before = command(earlier, Path(name), prompts, *options, generator=model)
    return Overlap(writing, grading, both, before.seconds)


async def _timed(
    stage: Callable[[Prompt], Awaitable[Any]], prompts: Sequence[Prompt], window: int = WINDOW
) -> float:
    """Seconds of one stage for all prompts, with as many at a time as in a run."""
    places = asyncio.Semaphore(window)
    begun = time.perf_counter()

    async def one(prompt: Prompt) -> None:
        async with places:
            await stage(prompt)

    await asyncio.gather(*map(one, prompts))
    return time.perf_counter() - begun
