"""Candidates that are there already."""

import hashlib
import json
import weakref
from array import array
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock

import numpy as np

from darc.errors import InputError, TableError
from darc.files import output_files, read_entries
from darc.generators.base import Settings
from darc.models.completion import Report
from darc.registry import generator
from darc.types import Candidate, Prompt


@generator("given", "FILE")
class GivenGenerator:
    """Answers from a file: JSON lines with prompt_id, candidate_id and response; or of a folder.

    Each prompt has as many candidates as the file, at most K; sampling settings mean nothing here.
    """

    name = "given"

    def __init__(self, path: str) -> None:
        self._path, self._texts = Path(path), TemporaryFile()  # noqa: SIM115
        self._lock = Lock()
        weakref.finalize(self, self._texts.close)
        prompts, ends, seen = array("Q"), array("Q", [0]), set[int]()
        for line, row in read_entries(self._path):
            try:
                name, text = str(row["candidate_id"]), str(row["response"])
                prompt_id = str(row["prompt_id"])
            except (KeyError, TypeError):
                raise TableError(
                    str(path), "an answer lacks prompt_id, candidate_id or response", "add it", line
                ) from None
            if (answer := _number(prompt_id, name)) in seen:
                raise TableError(
                    str(path), f"candidate {name!r} comes twice", "give each its own id", line
                )
            seen.add(answer)
            prompts.append(_number(prompt_id))
            written = self._texts.write(json.dumps([prompt_id, name, text]).encode())
            ends.append(ends[-1] + written)
        self._texts.flush()
        # The texts stay on the disk: a prompt's are found by a number made of its id.
        numbers, self._ends = np.array(prompts, dtype=np.uint64), np.array(ends, dtype=np.int64)
        self._order = np.argsort(numbers, kind="stable")
        self._prompts = numbers[self._order]
        digest = hashlib.sha256()
        for each in output_files(self._path) if self._path.is_dir() else [self._path]:
            with each.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        self._version = digest.hexdigest()[:16]

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
        answers = self._read(prompt.id)[:most]
        if not answers:
            raise InputError(f"{self._path} has no answer to prompt {prompt.id!r}", "add one")
        return [
            Candidate(prompt.id, index, text, len(text.split()), name=name)
            for index, (name, text) in enumerate(answers)
        ]

    def _read(self, prompt_id: str) -> list[tuple[str, str]]:
        """The name and the text of every answer to a prompt, in the order of the file."""
        number = np.uint64(_number(prompt_id))
        first, last = (np.searchsorted(self._prompts, number, side) for side in ("left", "right"))
        found = []
        for place in self._order[first:last]:
            begin, end = map(int, self._ends[place : place + 2])
            with self._lock:
                self._texts.seek(begin)
                other, name, text = json.loads(self._texts.read(end - begin))
            if other == prompt_id:
                found.append((name, text))
        return found


def _number(*names: str) -> int:
    """A number of 64 bits for some names."""
    data = json.dumps(names).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")
