"""Prompts and candidates as users give them, what every generator has, and answers in a file."""

import hashlib
import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Protocol, runtime_checkable

from darc.decide.statistics.draws import prompt_seeds
from darc.errors import DarcError, InputError, TableError
from darc.files import file_sha256, output_files, read_entries
from darc.models.completion import Completion, Report, strip_reasoning
from darc.registry import generator
from darc.types import Candidate, Message, Prompt

SEED_BITS = 31
MAX_TOKENS = 320


@dataclass(frozen=True)
class SamplingParameters:
    """How many answers a prompt gets, and how they are sampled.

    `max_tokens` is None for the generator's own limit: its `max_tokens`, or else 320. Where a
    generator `continues`, `first` leaves out so many candidates before the k.
    """

    k: int = 8
    temperature: float = 0.8
    top_p: float = 0.98
    max_tokens: int | None = None
    seed: int = 0
    first: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be sampled by."""
        checks = {
            "k": self.k >= 1,
            "temperature": self.temperature >= 0,
            "top_p": 0 < self.top_p <= 1,
            "max_tokens": self.max_tokens is None or self.max_tokens >= 1,
        }
        for name, fine in checks.items():
            if not fine:
                raise InputError(
                    f"{name} is {getattr(self, name)}",
                    "k and max_tokens are at least 1, temperature at least 0, top_p in (0, 1]",
                )

    def tokens(self, own: int = MAX_TOKENS) -> int:
        """How many tokens an answer may have, by a generator's own limit if none was given."""
        return own if self.max_tokens is None else self.max_tokens


@runtime_checkable
class Generator(Protocol):
    """Something that answers prompts."""

    @property
    def name(self) -> str:
        """What the generator is called in files and messages."""

    @property
    def version(self) -> str:
        """What the answers depend on besides name, prompt and settings: the weights' hash, say."""

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """K candidates a prompt, in the order of the prompts; duplicates are kept.

        `report(done, total)` counts the answers.
        """


def candidate(prompt_id: str, index: int, seed: int | None, completion: Completion) -> Candidate:
    """A completion as the candidate of a prompt."""
    return Candidate(
        prompt_id=prompt_id,
        index=index,
        text=completion.text,
        tokens=completion.tokens,
        truncated=completion.truncated,
        log_likelihood=completion.log_likelihood,
        seed=seed,
    )


def candidate_seeds(settings: SamplingParameters, prompt_id: str) -> list[int]:
    """One seed a candidate, (K,), from (seed, prompt_id) and its index alone.

    They fit into 31 bits, which every server takes; a larger K keeps the first seeds.
    """
    (seed,) = prompt_seeds(settings.seed, [prompt_id])
    places = range(settings.first, settings.first + settings.k)
    return [int(each) >> (64 - SEED_BITS) for each in prompt_seeds(int(seed), places)]


# Texts or candidates in order, or texts by their names.
Answers = Sequence[str | Candidate] | Mapping[str, str]


def as_prompt(prompt: str | Prompt, name: str = "question") -> Prompt:
    """A prompt; a text becomes one of a single message."""
    if isinstance(prompt, Prompt):
        return prompt
    if not prompt.strip():
        raise InputError("there is no question", "such as: Why is the sky blue?")
    return Prompt(name, (Message("user", prompt.strip()),))


def as_candidates(prompt: Prompt, answers: Answers) -> list[Candidate]:
    """Candidates; texts are numbered in their order."""
    if not answers:
        raise InputError("there are no answers to choose from", "give at least one")
    if isinstance(answers, Mapping):
        answers = [Candidate(prompt.id, 0, text, name=name) for name, text in answers.items()]
    made = [
        answer if isinstance(answer, Candidate) else Candidate(prompt.id, index, answer)
        for index, answer in enumerate(answers)
    ]
    said = [strip_thoughts(each) for each in made]
    if None in said:
        where = f"answer {said.index(None) + 1}"
        raise InputError(f"{where} is a thought (<think>) that never ends", "leave it out")
    return drop_failed(said)


def strip_thoughts(candidate: Candidate) -> Candidate | None:
    """The candidate without what its model thought aloud; None where that never ends."""
    if "think>" not in candidate.text:
        return candidate
    text = strip_reasoning(candidate.text)
    return None if text is None else replace(candidate, text=text)


def drop_failed(made: Sequence[Candidate | None]) -> list[Candidate]:
    """The candidates that there are, numbered in their order; there must be one."""
    there = [each for each in made if each is not None]
    if not there:
        raise DarcError("no answer came to the end of its thoughts", "allow it more --max-tokens")
    return [replace(each, index=index) for index, each in enumerate(there)]


@generator("given", "FILE")
class GivenGenerator:
    """Answers from a file: JSON lines with prompt_id, candidate_id and response; or of a folder.

    Each prompt has as many candidates as the file, at most K; sampling settings mean nothing here.
    The texts stay on the disk.
    """

    name = "given"

    def __init__(self, path: str) -> None:
        self._path, self._lock = Path(path), Lock()
        # Without a name it is a file that is gone with the connection.
        self._answers = sqlite3.connect("", check_same_thread=False)
        weakref.finalize(self, self._answers.close)
        self._answers.execute("CREATE TABLE answers (prompt, name, text, UNIQUE (prompt, name))")
        for line, row in read_entries(self._path):
            try:
                entry = [str(row[name]) for name in ("prompt_id", "candidate_id", "response")]
            except (KeyError, TypeError):
                raise TableError(
                    str(path), "an answer lacks prompt_id, candidate_id or response", "add it", line
                ) from None
            try:
                self._answers.execute("INSERT INTO answers VALUES (?, ?, ?)", entry)
            except sqlite3.IntegrityError:
                raise TableError(
                    str(path), f"candidate {entry[1]!r} comes twice", "give each its own id", line
                ) from None
            except sqlite3.OperationalError as problem:
                raise DarcError(f"no room for {path}: {problem}", "set TMPDIR") from None
        files = output_files(self._path) if self._path.is_dir() else [self._path]
        digests = b"".join(bytes.fromhex(file_sha256(each)) for each in files)
        self.version = hashlib.sha256(digests).hexdigest()[:16]

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """The first K answers of the file to each prompt, in its order."""
        return [self._of(prompt, settings.k) for prompt in prompts]

    def _of(self, prompt: Prompt, most: int) -> list[Candidate]:
        query = "SELECT name, text FROM answers WHERE prompt = ? ORDER BY rowid LIMIT ?"
        with self._lock:
            rows = self._answers.execute(query, (prompt.id, most)).fetchall()
        if not rows:
            raise InputError(f"{self._path} has no answer to prompt {prompt.id!r}", "add one")
        return [
            Candidate(prompt.id, index, text, len(text.split()), name=name)
            for index, (name, text) in enumerate(rows)
        ]
