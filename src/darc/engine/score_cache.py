"""Scores kept between runs, by content."""

import hashlib
import json
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from darc.models.cache import cache_folder
from darc.registry.capabilities import Closing
from darc.types import CutOff, Prompt

logger = logging.getLogger(__name__)

NAME = "scores.sqlite"
AT_ONCE = 500
BUSY_SECONDS = 30.0


class ScoreCache(Closing):
    """Scores in one SQLite file, by a hash of scorer, version, conversation and answer.

    A number is kept whole (64 bits), so that a kept score is the score. Several processes may use
    the file. A file that cannot be used is said once in the log, and nothing is kept.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / NAME
        self._connection = self._open()

    def known(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """The scores that are kept, of those asked for."""
        found: dict[bytes, float] = {}
        if self._connection is None:
            return found
        try:
            for start in range(0, len(keys), AT_ONCE):
                part = keys[start : start + AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, score FROM scores WHERE key IN ({marks})"
                found.update(self._connection.execute(query, part))
        except sqlite3.Error as problem:
            self._give_up(problem)
        return found

    def keep(self, scores: Mapping[bytes, float]) -> None:
        """Keep scores, all or none of them."""
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO scores VALUES (?, ?)", scores.items()
                )
        except sqlite3.Error as problem:
            self._give_up(problem)

    def __len__(self) -> int:
        if self._connection is None:
            return 0
        (count,) = self._connection.execute("SELECT count(*) FROM scores").fetchone()
        return int(count)

    def clear(self) -> None:
        """Forget everything."""
        if self._connection is not None:
            with self._connection:
                self._connection.execute("DELETE FROM scores")
            self._connection.execute("VACUUM")

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _give_up(self, problem: Exception) -> None:
        """Say why nothing is kept from here on."""
        logger.warning("scores are not kept: %s: %s", self.path, problem)
        self.close()

    def _open(self) -> sqlite3.Connection | None:
        connection = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, score REAL NOT NULL)"
                    " WITHOUT ROWID"
                )
            return connection
        except (OSError, sqlite3.Error) as problem:
            self._connection = connection
            self._give_up(problem)
            return None


def conversation_key(scorer: str, version: str, prompt: Prompt) -> "hashlib._Hash":
    """The beginning of the key of every answer to a prompt under a scorer."""
    messages = [asdict(message) for message in prompt.messages]
    text = json.dumps([scorer, version, messages], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + b"\0")


def keys_of(scorer: str, version: str, prompt: Prompt, texts: Sequence[str]) -> list[bytes]:
    """The keys of answers to a prompt under a scorer, (texts,)."""
    start = conversation_key(scorer, version, prompt)
    keys = []
    for text in texts:
        whole = start.copy()
        whole.update(text.encode("utf-8", "surrogatepass"))
        if isinstance(text, CutOff):
            whole.update(b"\0cut off")
        keys.append(whole.digest())
    return keys
