"""Scorers asked with patience: in full batches, checked, tried again, and not asked twice."""

import asyncio
import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from darc.engine.batcher import Batcher
from darc.engine.parts import ATTEMPTS, SECONDS, Tools
from darc.engine.workers import Workers, WorkTimedOut
from darc.errors import DarcError, InputError, MissingExtra
from darc.models.installed import cache_folder
from darc.registry import Closing
from darc.scorers.base import Pair
from darc.types import CutOff, Prompt
from darc.typing import Array

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


logger = logging.getLogger(__name__)


RESUME = "mend it and run again: what is written stays"
# So that a batch of long texts does not keep everybody else waiting.
CHARACTERS, CHARACTERS_AT_ONCE = 10_000, 30_000


@dataclass(frozen=True)
class Patience:
    """How often a local scorer is asked for the same texts, how long it may take, and the waits.

    A remote scorer is asked once: its client has patience of its own.
    """

    attempts: int = ATTEMPTS
    seconds: float = SECONDS
    wait: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass
class Clock:
    """Milliseconds by stage."""

    milliseconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent


@dataclass
class Tally:
    """Texts that scorers were asked for, those that were kept from earlier, and texts in all."""

    asked: int = 0
    kept: int = 0
    calls: int = 0


@dataclass
class Scoring:
    """The scorers of an engine; a kept score is not asked for again."""

    tools: Tools
    workers: Workers
    cache: ScoreCache | None = None
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        """Put a batcher before each scorer that takes several texts at once, or is here."""
        self._batchers = {
            place: Batcher[Pair, float](
                partial(self._patient, place),
                size=scorer.batch_size,
                calls=max(1, self.workers.processes) if scorer.in_process else scorer.parallel,
                weigh=lambda pair: len(pair[1]),
                most=CHARACTERS if scorer.in_process else CHARACTERS_AT_ONCE,
                ends=scorer.remote or scorer.in_process,
                turns=self.workers.turns if scorer.in_process else None,
            )
            for place, scorer in enumerate(self.tools.scorers)
            if scorer.batch_size > 1 or not scorer.remote
        }

    async def score(
        self, place: int, prompt: Prompt, texts: Sequence[str], owner: Hashable, tally: Tally
    ) -> Array:
        """What one scorer gives each text, (texts,), or by its criteria (texts, criteria)."""
        scorer = self.tools.scorers[place]
        if self.cache is None or not scorer.version:
            tally.asked += len(texts)
            return await self._asked(place, prompt, texts, owner)
        names = [f"{scorer.name} {each}" for each in scorer.criteria] or [scorer.name]
        columns = [keys_of(name, scorer.version, prompt, texts) for name in names]
        known = self.cache.known([key for column in columns for key in column])
        missing = [i for i in range(len(texts)) if any(c[i] not in known for c in columns)]
        if missing:
            fresh = await self._asked(place, prompt, [texts[i] for i in missing], owner)
            rows = fresh.reshape(len(missing), len(names)).tolist()
            made = {
                c[i]: row[n]
                for i, row in zip(missing, rows, strict=True)
                for n, c in enumerate(columns)
            }
            self.cache.keep(made)
            known.update(made)
        tally.asked += len(missing)
        tally.kept += len(texts) - len(missing)
        found = np.array([[known[column[i]] for column in columns] for i in range(len(texts))])
        return found if scorer.criteria else found[:, 0]

    async def aclose(self) -> None:
        """End what runs."""
        for batcher in self._batchers.values():
            await batcher.aclose()

    async def _asked(
        self, place: int, prompt: Prompt, texts: Sequence[str], owner: Hashable
    ) -> Array:
        pairs = [(prompt, text) for text in texts]
        batcher = self._batchers.get(place)
        if batcher is None:
            return await self._once(place, pairs, owner)
        return np.array(await batcher.ask(pairs, owner))

    async def _patient(self, place: int, pairs: list[Pair], owner: Hashable) -> Array:
        """A scorer's numbers for pairs, asked for again where a local one fails.

        The error after the last attempt names the scorer and the text that it fails on; a mistake
        of the user's is not tried again.
        """
        attempts = 1 if self.tools.scorers[place].remote else self.patience.attempts
        for attempt in range(1, attempts + 1):
            try:
                return await self._once(place, pairs, owner)
            except (InputError, MissingExtra):
                raise
            except DarcError as problem:
                if attempts == 1:
                    raise
                if attempt == attempts:
                    raise await self._narrowed(place, pairs, owner, problem) from problem
                logger.warning("%s; trying again (%d of %d)", problem, attempt, attempts)
                await self.patience.sleep(self.patience.wait * 4 ** (attempt - 1))
        raise AssertionError("no attempt was made")

    async def _once(self, place: int, pairs: Sequence[Pair], owner: Hashable) -> Array:
        """One call, checked."""
        scorer, seconds = self.tools.scorers[place], self.patience.seconds
        where = f"scorer {scorer.name!r}, prompt {pairs[0][0].id!r}"
        try:
            if scorer.remote:
                answer = await asyncio.wait_for(scorer.score_async(pairs), seconds)
            elif scorer.in_process:
                assert isinstance(owner, int)  # its batcher has taken a slot
                answer = await self.workers.at_slot(
                    owner, "score", place, list(pairs), seconds=seconds
                )
            else:
                answer = await self.workers.in_thread(scorer.score, pairs, seconds=seconds)
        except (TimeoutError, WorkTimedOut):
            raise WorkTimedOut(f"{where}: no answer within {seconds:g} s", RESUME) from None
        except DarcError:
            raise
        except Exception as problem:
            told = str(problem) or type(problem).__name__
            raise DarcError(f"{where}: it failed ({told})", RESUME) from problem
        return _checked(where, answer, pairs, len(scorer.criteria))

    async def _narrowed(
        self, place: int, pairs: Sequence[Pair], owner: Hashable, problem: DarcError
    ) -> DarcError:
        """The same error, with the text that brings it about where one alone does."""
        if len(pairs) > 1 and not isinstance(problem, WorkTimedOut):
            for pair in pairs:
                try:
                    await self._once(place, [pair], owner)
                except DarcError as narrow:
                    message, text = narrow.message, shortened(pair[1])
                    if text not in message:
                        message = f"{message}, text {text}"
                    return DarcError(message, RESUME)
        return problem


def _checked(where: str, answer: object, pairs: Sequence[Pair], criteria: int = 0) -> Array:
    try:
        numbers = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise DarcError(f"{where}: it returned no numbers", "return one a text") from None
    if numbers.shape != ((len(pairs), criteria) if criteria else (len(pairs),)):
        raise DarcError(
            f"{where}: it returned an array of shape {numbers.shape} for {len(pairs)} texts",
            "a scorer returns one number a text",
        )
    if not np.isfinite(numbers).all():
        fine = np.isfinite(numbers.reshape(len(pairs), -1)).all(axis=1)
        text = pairs[int(np.argmin(fine))][1]
        raise DarcError(
            f"{where}: it gave no number for the text {shortened(text)}",
            "a scorer returns finite numbers",
        )
    return numbers


def shortened(text: str) -> str:
    """The beginning of a text, quoted."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
