"""Candidates that are there already."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from darc.errors import InputError, TableError
from darc.generators.base import Settings
from darc.models.completion import Report
from darc.registry import generator
from darc.tables.entries import read_entries
from darc.types import Candidate, Prompt


@generator("given", "FILE")
class GivenGenerator:
    """Answers from a file: JSON lines with prompt_id, candidate_id and response.

    Each prompt has as many candidates as the file, at most K; sampling settings mean nothing here.
    """

    name = "given"

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._answers: dict[str, list[tuple[str, str]]] = {}
        for line, row in read_entries(self._path):
            try:
                name, text = str(row["candidate_id"]), str(row["response"])
                answers = self._answers.setdefault(str(row["prompt_id"]), [])
            except (KeyError, TypeError):
                raise TableError(
                    str(path), "an answer lacks prompt_id, candidate_id or response", "add it", line
                ) from None
            if any(name == other for other, _ in answers):
                raise TableError(
                    str(path), f"candidate {name!r} comes twice", "give each its own id", line
                )
            answers.append((name, text))
        self._version = hashlib.sha256(self._path.read_bytes()).hexdigest()[:16]

    @property
    def version(self) -> str:
        """A hash of the file."""
        return self._version

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """The first K answers of the file to each prompt."""
        return [self._of(prompt, settings.k) for prompt in prompts]

    def _of(self, prompt: Prompt, most: int) -> list[Candidate]:
        answers = self._answers.get(prompt.id, [])[:most]
        if not answers:
            raise InputError(f"{self._path} has no answer to prompt {prompt.id!r}", "add one")
        return [
            Candidate(prompt.id, index, text, len(text.split()), name=name)
            for index, (name, text) in enumerate(answers)
        ]
