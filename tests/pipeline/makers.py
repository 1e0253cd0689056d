"""A generator and scorers that cost nothing, for tests of what surrounds them."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darc.generators.base import Settings
from darc.perturb import RulesRewriter
from darc.pipeline.deciding import Deciding
from darc.pipeline.engine import Engine
from darc.pipeline.folder import RunFolder
from darc.pipeline.manifest import manifest
from darc.pipeline.parts import Parts
from darc.pipeline.questions import Question
from darc.pipeline.rule_spec import parse_rules
from darc.pipeline.run import run
from darc.pipeline.side import SideMaker
from darc.pipeline.stages import Job
from darc.types import Candidate, Prompt

QUESTIONS = [
    Question("tides", ("Why are there two tides?", "Say it shorter.")),
    Question("bread", ("How is bread made?",), "cooking"),
    Question("sky", ("Why is the sky blue?",)),
    Question("rain", ("Why does it rain, and when does it not?",)),
]
IDS = ["tides", "bread", "sky", "rain", "tides#2"]
FILES = ("prompts", "candidates", "variants", "rejected", "scores", "side", "decisions")
ENDINGS = (
    "because the water is pulled and the ground turns below it",
    "because I do not know, but it's often said that nobody does",
    "because of the light, for example, which is very bright",
    "and so we can't be sure, however long we look at it",
)


class Words:
    """Answers from the question's own words, and counts its calls in a file."""

    name, version, parallel = "words", "1", 4

    def __init__(self, log: Path | None = None, seconds: float = 0.0) -> None:
        self._log, self._seconds = log, seconds

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Any = None
    ) -> list[list[Candidate]]:
        time.sleep(self._seconds)
        if self._log is not None:
            with self._log.open("a") as file:
                file.writelines(f"{prompt.id}\n" for prompt in prompts)
        return [[self._one(prompt, i) for i in range(settings.k)] for prompt in prompts]

    def _one(self, prompt: Prompt, index: int) -> Candidate:
        words = prompt.question.rstrip("?.").split() * (index + 1)
        text = f"It is about {' '.join(words)} and {len(prompt.messages)} things, {ENDINGS[index]}."
        return Candidate(
            prompt.id, index, text, len(words), log_likelihood=-1.0 - index, seed=index
        )


class Lengths:
    """Scores a text by its length, and writes down what it was asked."""

    location: float | None = 120.0
    scale: float | None = 40.0
    bounds = (0.0, 1000.0)

    def __init__(
        self, name: str = "length", version: str = "", log: Path | None = None, seconds: float = 0.0
    ) -> None:
        self.name, self.version = name, version
        self.asked: list[str] = []
        self._log, self._seconds = log, seconds

    def score(self, pairs: Any) -> Any:
        time.sleep(self._seconds)
        self.asked += [text for _, text in pairs]
        if self._log is not None:
            with self._log.open("a") as file:
                file.writelines(f"{prompt.id}\n" for prompt, _ in pairs)
        return np.array([float(len(text)) for _, text in pairs])


class Vowels(Lengths):
    """Scores a text by the share of its letters that are vowels."""

    location: float | None = 0.4
    scale: float | None = 0.05
    bounds = (0.0, 1.0)

    def __init__(self, name: str = "vowels", version: str = "") -> None:
        super().__init__(name, version)

    def score(self, pairs: Any) -> Any:
        self.asked += [text for _, text in pairs]
        return np.array([sum(c in "aeiou" for c in text) / max(1, len(text)) for _, text in pairs])


def start(
    path: Path,
    rule: str = "epsilon",
    *,
    lazy: bool = False,
    normalize: str = "fixed",
    restart: str | None = None,
    generator: Words | None = None,
    scorers: Sequence[Lengths] | None = None,
    questions: Sequence[Question] = QUESTIONS,
    cache: Any = None,
    n_aug: int = 3,
    include_original: bool = True,
) -> RunFolder:
    """A run with what is above."""
    (spec,) = parse_rules([rule], {})
    made = generator or Words()
    parts = Parts(n_aug=n_aug, include_original=include_original)
    engine = Engine(
        RulesRewriter(),
        scorers or [Lengths(), Vowels()],
        n_aug,
        cache=cache,
        include_original=include_original,
    )
    deciding = Deciding(
        spec, engine.bounds, engine.constants, normalize, include_original=include_original
    )
    sampling = Settings(k=4)
    folder = RunFolder(path)
    try:
        folder.open(manifest(questions, made, sampling, parts, engine, deciding), restart)
        run(
            folder,
            questions,
            Job(made, sampling, engine, deciding, SideMaker({}, None), lazy),
        )
    finally:
        folder.close()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of everything but the timings."""
    names = [f"{name}.jsonl" for name in FILES] + ["manifest.json"]
    return {name: (folder / name).read_bytes() for name in names}
