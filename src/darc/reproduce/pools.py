"""Pools of candidates that stay as they were written, whatever is done with them later."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from darc.models.completion import Report
from darc.parts.generators.base import SamplingParameters
from darc.parts.scorers.base import Pair
from darc.runs.folder import RunFolder
from darc.runs.questions import Question
from darc.runs.seals import checksum
from darc.types import Candidate, Prompt
from darc.typing import Array

_VERSION_LENGTH = 16


class NoScores:
    """A scorer that finds all answers equal, for steps that need no scores.

    A second turn then follows the first candidate of the first turn, a plain sample of the model,
    so that a pool depends on no selection rule.
    """

    name = "none"
    version = "1"
    location = 0.0
    scale = 1.0
    bounds = (0.0, 1.0)

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score all pairs with 0, (pairs,)."""
        return np.zeros(len(pairs))


class StoredPool:
    """The candidates of a finished run, as a generator that writes nothing new.

    Args:
        path: The run folder.
    """

    def __init__(self, path: Path) -> None:
        folder = RunFolder(path)
        manifest = folder.manifest()
        generator = manifest["settings"]["generator"]
        self.name: str = generator["name"]
        self.licence: str = generator.get("licence", "")
        #: What identifies the pool: the prompts, the generator and how it was sampled.
        self.digest: str = checksum(
            [manifest["input"], generator, manifest["settings"]["sampling"]]
        )
        self.version = self.digest[:_VERSION_LENGTH]
        self._prompts: dict[str, Prompt] = {}
        self._candidates: dict[str, list[Candidate]] = {}
        for prompt, candidate in folder.candidates():
            self._prompts[prompt.id] = prompt
            self._candidates.setdefault(prompt.id, []).append(candidate)

    @property
    def questions(self) -> list[Question]:
        """The prompts as questions of one turn each, with what was said before."""
        questions = []
        for prompt in self._prompts.values():
            *before, last = prompt.messages
            questions.append(Question(prompt.id, (last.content,), prompt.category, tuple(before)))
        return questions

    def first(self, count: int) -> list[str]:
        """The ids of the first prompts."""
        return list(self._prompts)[:count]

    def candidates(self, prompt_id: str) -> list[Candidate]:
        """The candidates of a prompt."""
        return self._candidates[prompt_id]

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """Return the candidates of each prompt."""
        return [self._candidates[prompt.id][: settings.k] for prompt in prompts]
