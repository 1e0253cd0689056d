"""The generator `given`: answers from a file."""

import hashlib
import sqlite3
import weakref
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from darc.entries import output_files, read_entries
from darc.errors import DarcError, InputError, TableError
from darc.files import file_sha256
from darc.models.completion import Report
from darc.parts.generators.base import SamplingParameters
from darc.registry import generator
from darc.types import Candidate, Prompt

_FIELDS = ("prompt_id", "candidate_id", "response")


@generator("given", "FILE")
class GivenGenerator:
    """Answers from a file: JSON lines with prompt_id, candidate_id and response; or of a folder.

    Each prompt has as many candidates as the file, at most K; sampling parameters have no effect.
    The texts stay on the disk.
    """

    name = "given"

    def __init__(self, path: str) -> None:
        """Read the answers into a temporary database.

        Args:
            path: The file, or a folder of files.

        Raises:
            TableError: If a line lacks a field, or has a candidate a second time.
            DarcError: If there is no room for the database.
        """
        self._path = Path(path)
        self._lock = Lock()
        # A database without a name is a temporary file that goes with the connection.
        self._database = sqlite3.connect("", check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._database.execute("CREATE TABLE answers (prompt, name, text, UNIQUE (prompt, name))")
        for line, row in read_entries(self._path):
            self._insert(line, row)
        files = [self._path]
        if self._path.is_dir():
            files = output_files(self._path)
        digests = b"".join(bytes.fromhex(file_sha256(file)) for file in files)
        self.version = hashlib.sha256(digests).hexdigest()[:16]

    def _insert(self, line: int | None, row: Any) -> None:
        path = str(self._path)
        try:
            entry = [str(row[name]) for name in _FIELDS]
        except (KeyError, TypeError):
            raise TableError(
                path, "an answer lacks prompt_id, candidate_id or response", "add it", line
            ) from None
        try:
            self._database.execute("INSERT INTO answers VALUES (?, ?, ?)", entry)
        except sqlite3.IntegrityError:
            raise TableError(
                path, f"candidate {entry[1]!r} comes twice", "give each its own id", line
            ) from None
        except sqlite3.OperationalError as problem:
            raise DarcError(f"no room for {path}: {problem}", "set TMPDIR") from None

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """Return the first K answers of the file to each prompt, in the order of the file.

        Raises:
            InputError: If the file has no answer to a prompt.
        """
        return [self._read_answers(prompt, settings.k) for prompt in prompts]

    def _read_answers(self, prompt: Prompt, count: int) -> list[Candidate]:
        query = "SELECT name, text FROM answers WHERE prompt = ? ORDER BY rowid LIMIT ?"
        with self._lock:
            rows = self._database.execute(query, (prompt.id, count)).fetchall()
        if not rows:
            raise InputError(f"{self._path} has no answer to prompt {prompt.id!r}", "add one")
        return [
            Candidate(prompt.id, index, text, len(text.split()), name=name)
            for index, (name, text) in enumerate(rows)
        ]
