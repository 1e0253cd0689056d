"""A generator and scorers that cost nothing, for tests of what surrounds them."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darc.parts.generators.base import SamplingParameters
from darc.runs.questions import Question
from darc.types import Candidate, Message, Prompt

QUESTIONS = [
    Question("tides", ("Why are there two tides?", "Say it shorter.")),
    Question("bread", ("How is bread made?",), "cooking"),
    Question("sky", ("Why is the sky blue?",)),
    Question("rain", ("Why does it rain, and when does it not?",)),
]
IDS = ["tides", "bread", "sky", "rain", "tides#2"]
ENDINGS = (
    "because the water is pulled and the ground turns below it",
    "because I do not know, but it's often said that nobody does",
    "because of the light, for example, which is very bright",
    "and so we can't be sure, however long we look at it",
)


class Words:
    """Answers from the question's own words, and counts its calls in a file."""

    name = "words"
    version = "1"
    parallel = 4
    continues = True

    def __init__(self, log: Path | None = None, seconds: float = 0.0) -> None:
        self._log = log
        self._seconds = seconds

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Any = None
    ) -> list[list[Candidate]]:
        time.sleep(self._seconds)
        if self._log is not None:
            with self._log.open("a") as file:
                file.writelines(f"{prompt.id}\n" for prompt in prompts)
        places = range(settings.first, settings.first + settings.k)
        return [[self._one(prompt, i) for i in places] for prompt in prompts]

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
        self.name = name
        self.version = version
        self.asked: list[str] = []
        self._log = log
        self._seconds = seconds

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


PROMPT = Prompt("tides", (Message("user", "Why are there two high tides a day?"),))


def candidates(*texts: str) -> list[Candidate]:
    """Answers to the prompt."""
    return [Candidate(PROMPT.id, index, text) for index, text in enumerate(texts)]


ANSWERS = candidates(
    "The water rises because the Moon pulls on it, and it rises on both sides.",
    "Bulges form on the near side and on the far side, so a coast meets two of them.",
    "Rhythms fly by; why try?",
    "The Moon pulls hardest on the near side and weakest on the far side of the planet.",
)


async def at_once(seconds: float) -> None:
    """Wait for nothing."""
