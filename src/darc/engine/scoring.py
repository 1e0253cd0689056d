"""Scorers asked with patience: in full batches, checked, tried again, and not asked twice."""

import asyncio
import contextvars
import hashlib
import itertools
import json
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from darc.closing import Closing
from darc.engine.parts import Tools, checked, shortened
from darc.engine.samples import Tally, words
from darc.engine.workers import Shares, Turns, Workers, WorkTimedOut
from darc.errors import DarcError, InputError, MissingExtra
from darc.models.installed import cache_folder
from darc.parts.scorers.base import Pair
from darc.types import CutOff, Prompt
from darc.typing import Array

Item = TypeVar("Item")
Result = TypeVar("Result")

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
        self._connection: sqlite3.Connection | None = None
        with self._giving_up():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, BUSY_SECONDS, check_same_thread=False)
            self._connection.executescript(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE IF NOT EXISTS"
                " scores (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID"
            )

    def known(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """The scores that are kept, of those asked for."""
        found: dict[bytes, float] = {}
        if self._connection is not None:
            with self._giving_up():
                for part in (keys[i : i + AT_ONCE] for i in range(0, len(keys), AT_ONCE)):
                    marks = ",".join("?" * len(part))
                    query = f"SELECT key, score FROM scores WHERE key IN ({marks})"
                    found.update(self._connection.execute(query, part))
        return found

    def keep(self, scores: Mapping[bytes, float]) -> None:
        """Keep scores, all or none of them."""
        if self._connection is not None:
            with self._giving_up(), self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO scores VALUES (?, ?)", scores.items()
                )

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

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """Keep nothing from here on where the file cannot be used, and say why."""
        try:
            yield
        except (OSError, sqlite3.Error) as problem:
            logger.warning("scores are not kept: %s: %s", self.path, problem)
            self.close()


def keys_of(scorer: str, version: str, prompt: Prompt, texts: Sequence[str]) -> list[bytes]:
    """The keys of answers to a prompt under a scorer, (texts,)."""
    messages = [asdict(message) for message in prompt.messages]
    said = json.dumps([scorer, version, messages], ensure_ascii=False)
    start, keys = hashlib.sha256(said.encode("utf-8", "surrogatepass") + b"\0"), []
    for text in texts:
        whole = start.copy()
        whole.update(text.encode("utf-8", "surrogatepass"))
        if isinstance(text, CutOff):
            whole.update(b"\0cut off")
        keys.append(whole.digest())
    return keys


RESUME = "mend it and run again: what is written stays"
# So that a batch of long texts does not keep everybody else waiting.
CHARACTERS, CHARACTERS_AT_ONCE = 10_000, 30_000


@dataclass(frozen=True)
class Patience:
    """How often a local scorer is asked for the same texts, how long it may take, and the waits.

    A remote scorer is asked once: its client has patience of its own.
    """

    attempts: int = 3
    seconds: float = 600.0
    wait: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(eq=False)
class _Wish(Generic[Item, Result]):
    """An item that somebody waits for, and the context that they asked in."""

    owner: Hashable
    item: Item
    future: "asyncio.Future[Result]"
    context: contextvars.Context


class Batcher(Generic[Item, Result]):
    """Gathers items of any number of callers into calls of at most `size` items.

    `call(items)` answers a batch, one result an item; it is put together once `turns` has a
    slot for it, by default the only one, and what arrives meanwhile waits for the next. The owner
    with least so far (by `weigh`) and expected in all comes first, and equal ones take turns.
    A batch is not heavier than `most` unless one item alone is. A call is made in the context of
    the first whose item it holds, and ended when nobody waits for it where `ends` says that it can
    be. One that fails is made again for each owner alone, so that one owner's item does not fail
    another's.
    """

    def __init__(
        self,
        call: Callable[[list[Item]], Coroutine[Any, Any, Any]],
        *,
        size: int = 16,
        turns: Turns | None = None,
        weigh: Callable[[Item], int] = lambda item: 1,
        most: int = 1_000_000_000,
        ends: bool = False,
    ) -> None:
        self._call, self._size, self._turns = call, size, turns or Turns(1)
        self._weigh, self._most, self._ends = weigh, most, ends
        self._pending: dict[Hashable, deque[_Wish[Item, Result]]] = {}
        self._had = Shares()
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, items: Sequence[Item], owner: Hashable) -> list[Result]:
        """One result an item, in their order."""
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in items]
        context = contextvars.copy_context()
        if items:
            own = self._pending.setdefault(owner, deque())
            wishes = zip(items, futures, strict=True)
            own.extend(_Wish(owner, *wish, context) for wish in wishes)
        wanted = -(-sum(map(len, self._pending.values())) // self._size)
        while len(self._running) < min(self._turns.slots, wanted):
            # Not in the caller's context: it serves everybody.
            task = loop.create_task(self._serve(), context=contextvars.Context())
            self._running.add(task)
        try:
            return list(await asyncio.gather(*futures))
        finally:
            for future in futures:
                future.cancel()
                # A failure that came after the first is told by the first.
                if future.done() and not future.cancelled():
                    future.exception()

    async def aclose(self) -> None:
        """End what runs."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._running.clear()

    async def _serve(self) -> None:
        now = asyncio.get_running_loop().time
        try:
            await asyncio.sleep(0)
            while self._pending:
                async with self._turns.slot_for(self._next_owner):
                    begun, batch = now(), self._take()
                    await self._answer(batch)
                    weight = sum(self._weigh(wish.item) for wish in batch) or 1
                    for wish in batch:
                        share = self._weigh(wish.item) / weight
                        self._turns.had.charge(wish.owner, share * (now() - begun))
        finally:
            # At once: whoever asks before callbacks run is to see that nobody serves any longer.
            self._running.discard(asyncio.current_task())

    def _next_owner(self) -> Hashable:
        return min(self._pending, key=self._had.__getitem__, default=None)

    def _take(self) -> list[_Wish[Item, Result]]:
        batch: list[_Wish[Item, Result]] = []
        weight = 0
        while self._pending and len(batch) < self._size:
            owner = self._next_owner()
            queue = self._pending[owner]
            if not queue[0].future.done():
                own = self._weigh(queue[0].item)
                if batch and weight + own > self._most:
                    break
                weight += own
                batch.append(queue[0])
                self._had.charge(owner, own)
            queue.popleft()
            del self._pending[owner]
            if queue:
                self._pending[owner] = queue
        return batch

    async def _answer(self, batch: list[_Wish[Item, Result]]) -> None:
        batch = [wish for wish in batch if not wish.future.done()]
        if not batch:
            return
        call = asyncio.get_running_loop().create_task(
            self._call([wish.item for wish in batch]), context=batch[0].context.copy()
        )
        if self._ends:
            heard = asyncio.gather(*(wish.future for wish in batch), return_exceptions=True)
            heard.add_done_callback(lambda _: call.cancel())
        try:
            await asyncio.wait([call])
        finally:
            call.cancel()
        problem = None if call.cancelled() else call.exception()
        if not call.cancelled() and problem is None and len(call.result()) != len(batch):
            problem = ValueError(f"{len(call.result())} results for {len(batch)} items")
        owners = dict.fromkeys(wish.owner for wish in batch)
        if problem is not None and len(owners) > 1:
            for own in owners:
                await self._answer([wish for wish in batch if wish.owner == own])
        for place, wish in enumerate(batch):
            if call.cancelled():
                wish.future.cancel()
            elif not wish.future.done() and problem is not None:
                wish.future.set_exception(problem)
            elif not wish.future.done():
                wish.future.set_result(call.result()[place])


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
                turns=self.workers.turns if scorer.in_process else Turns(scorer.parallel),
                weigh=lambda pair: len(pair[1]),
                most=CHARACTERS if scorer.in_process else CHARACTERS_AT_ONCE,
                ends=scorer.remote or scorer.in_process,
            )
            for place, scorer in enumerate(self.tools.scorers)
            if scorer.batch_size > 1 or not scorer.remote
        }

    async def score(
        self, place: int, prompt: Prompt, texts: Sequence[str], owner: Hashable, tally: Tally
    ) -> Array:
        """What one scorer gives each text, (texts,), or by its criteria (texts, criteria)."""
        scorer = self.tools.scorers[place]
        names = [f"{scorer.name} {each}" for each in scorer.criteria] or [scorer.name]
        found, keys = np.full((len(texts), len(names)), np.nan), list[tuple[bytes, ...]]()
        if self.cache is not None and scorer.version:
            columns = (keys_of(name, scorer.version, prompt, texts) for name in names)
            keys = list(zip(*columns, strict=True))
            known = self.cache.known([key for row in keys for key in row])
            found[:] = [[known.get(key, np.nan) for key in row] for row in keys]
        missing = np.flatnonzero(np.isnan(found).any(axis=1)).tolist()
        if missing:
            pairs, batcher = [(prompt, texts[i]) for i in missing], self._batchers.get(place)
            fresh = await (
                self._once(place, pairs) if batcher is None else batcher.ask(pairs, owner)
            )
            found[missing] = np.reshape(fresh, (len(missing), len(names)))
        if keys and missing and self.cache is not None:
            every = [key for i in missing for key in keys[i]]
            self.cache.keep(dict(zip(every, found[missing].ravel().tolist(), strict=True)))
        tally.asked += len(missing)
        tally.kept += len(texts) - len(missing)
        return found if scorer.criteria else found[:, 0]

    async def aclose(self) -> None:
        """End what runs."""
        for batcher in self._batchers.values():
            await batcher.aclose()

    async def _patient(self, place: int, pairs: list[Pair]) -> Array:
        """A scorer's numbers for pairs, asked for again where a local one fails.

        The error after the last attempt names the scorer and the text that it fails on; a mistake
        of the user's is not tried again.
        """
        attempts = 1 if self.tools.scorers[place].remote else self.patience.attempts
        for attempt in itertools.count(1):
            try:
                return await self._once(place, pairs)
            except DarcError as problem:
                if attempts == 1 or isinstance(problem, InputError | MissingExtra):
                    raise
                if attempt == attempts:
                    raise await self._narrowed(place, pairs, problem) from problem
                logger.warning("%s; trying again (%d of %d)", problem, attempt, attempts)
                await self.patience.sleep(self.patience.wait * 4 ** (attempt - 1))
        raise AssertionError

    async def _once(self, place: int, pairs: Sequence[Pair]) -> Array:
        """One call, checked."""
        scorer, seconds = self.tools.scorers[place], self.patience.seconds
        where = f"scorer {scorer.name!r}, prompt {pairs[0][0].id!r}"
        try:
            if scorer.remote:
                answer = await asyncio.wait_for(scorer.score_async(pairs), seconds)
            elif scorer.in_process:
                answer = await self.workers.at_slot("score", place, list(pairs), seconds=seconds)
            else:
                answer = await self.workers.in_thread(scorer.score, pairs, seconds=seconds)
        except (TimeoutError, WorkTimedOut):
            raise WorkTimedOut(f"{where}: no answer within {seconds:g} s", RESUME) from None
        except DarcError:
            raise
        except Exception as problem:
            raise DarcError(f"{where}: it failed ({words(problem)})", RESUME) from problem
        return checked(where, answer, pairs, len(scorer.criteria))

    async def _narrowed(self, place: int, pairs: Sequence[Pair], problem: DarcError) -> DarcError:
        """The same error, with the text that brings it about where one alone does."""
        if len(pairs) > 1 and not isinstance(problem, WorkTimedOut):
            for pair in pairs:
                try:
                    await self._once(place, [pair])
                except DarcError as narrow:
                    message, text = narrow.message, shortened(pair[1])
                    where = "" if text in message else f", text {text}"
                    return DarcError(message + where, RESUME)
        return problem
