"""Scores that are kept for later, in one SQLite file."""

import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from darc.closing import Closing
from darc.models.installed import cache_folder
from darc.types import CutOff, Prompt

logger = logging.getLogger(__name__)

_FILE_NAME = "scores.sqlite"
# How many keys one query asks for; SQLite limits the number of variables.
_KEYS_PER_QUERY = 500
_LOCK_SECONDS = 30.0
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID
"""


class ScoreCache(Closing):
    """Scores by a hash of scorer, version, conversation and answer.

    Scores are stored as 64-bit numbers, so that a cached score is exactly the computed one.
    Several processes may use the same file. If the file cannot be used, a warning is logged once
    and nothing is cached.

    Args:
        path: The file, by default one in the user's cache folder.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / _FILE_NAME
        self._connection: sqlite3.Connection | None = None
        with self._close_on_error():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, _LOCK_SECONDS, check_same_thread=False)
            self._connection.executescript(_SCHEMA)

    def read(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """The cached scores of some keys; keys without a score are left out."""
        cached_scores: dict[bytes, float] = {}
        if self._connection is None:
            return cached_scores
        with self._close_on_error():
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                part = keys[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, score FROM scores WHERE key IN ({marks})"
                cached_scores.update(self._connection.execute(query, part))
        return cached_scores

    def write(self, scores: Mapping[bytes, float]) -> None:
        """Cache scores by their keys, all or none of them."""
        if self._connection is None:
            return
        with self._close_on_error(), self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?)", scores.items()
            )

    def __len__(self) -> int:
        if self._connection is None:
            return 0
        (count,) = self._connection.execute("SELECT count(*) FROM scores").fetchone()
        return int(count)

    def clear(self) -> None:
        """Delete all scores."""
        if self._connection is not None:
            with self._connection:
                self._connection.execute("DELETE FROM scores")
            self._connection.execute("VACUUM")

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _close_on_error(self) -> Iterator[None]:
        """Stop using a file that cannot be used, and log why."""
        try:
            yield
        except (OSError, sqlite3.Error) as problem:
            logger.warning("scores are not kept: %s: %s", self.path, problem)
            self.close()


def score_keys(scorer: str, version: str, prompt: Prompt, texts: Sequence[str]) -> list[bytes]:
    """The keys of answers to a prompt under one scorer.

    Args:
        scorer: The name of the scorer.
        version: What its scores depend on besides the pair of prompt and answer.
        prompt: The conversation.
        texts: The answers.

    Returns:
        One key per text.
    """
    messages = [asdict(message) for message in prompt.messages]
    description = json.dumps([scorer, version, messages], ensure_ascii=False)
    prefix = hashlib.sha256(_utf8(description) + b"\0")
    keys = []
    for text in texts:
        digest = prefix.copy()
        digest.update(_utf8(text))
        if isinstance(text, CutOff):
            digest.update(b"\0cut off")
        keys.append(digest.digest())
    return keys


def _utf8(text: str) -> bytes:
    """The bytes of a text; lone surrogates, which some models write, are allowed."""
    return text.encode("utf-8", "surrogatepass")
