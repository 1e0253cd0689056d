"""Runs on this machine: many prompts at work at once, shard by shard."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from darc.engine.engine import Engine
from darc.errors import DarcError, InputError, MissingExtra
from darc.runs.questions import Question
from darc.runs.shard import Shard
from darc.runs.stages import Stages
from darc.runs.summary import cost_of, totals

logger = logging.getLogger(__name__)

WINDOW = 64
MOST_FAILURES = 20
Report = Callable[[str, int], None]


@dataclass
class Failures:
    """Prompts that could not be finished, and why; too many of them end the run."""

    causes: dict[str, DarcError] = field(default_factory=dict)

    def add(self, prompt_id: str, problem: DarcError) -> None:
        """Note a failure; a mistake of the user's, or one failure too many, is raised."""
        if isinstance(problem, InputError | MissingExtra):
            raise problem
        self.causes[prompt_id] = problem
        logger.error("prompt %r failed: %s", prompt_id, problem)
        if len(self.causes) >= MOST_FAILURES:
            self.check()

    def check(self) -> None:
        """Raise the first failure, and say how many there are."""
        if len(self.causes) == 1:
            raise next(iter(self.causes.values()))
        if self.causes:
            first = next(iter(self.causes.values()))
            names = ", ".join(list(self.causes)[:8])
            raise DarcError(
                f"{len(self.causes)} prompts failed ({names}), the first: {first.message}",
                first.hint,
            )


async def fill_shards(
    shards: Iterable[tuple[Shard, list[Question]]],
    engine: Engine,
    *,
    lazy: bool = False,
    keep: str = "all",
    pack: bool = False,
    window: int = WINDOW,
    report: Report = lambda stage, done: None,
    failures: Failures | None = None,
) -> None:
    """Take the questions of shards through all stages, and seal each shard that is done.

    At most `window` questions are at work at a time, of as few shards as that takes. A question
    that fails leaves its shard open; the others go on, and the failure is raised at the end.
    """
    failures = Failures() if failures is None else failures
    try:
        seal = partial(Shard.seal, keep=keep, pack=pack)
        await _fill(shards, engine, lazy, seal, window, report, failures)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    failures.check()


async def _fill(
    shards: Iterable[tuple[Shard, list[Question]]],
    engine: Engine,
    lazy: bool,
    seal: Callable[..., None],
    window: int,
    report: Report,
    failures: Failures,
) -> None:
    places = asyncio.Semaphore(window)
    async with asyncio.TaskGroup() as group:

        async def one(stages: Stages, question: Question) -> None:
            try:
                await stages.answer(question, lambda stage: report(stage, 1))
            except DarcError as problem:
                failures.add(question.id, problem)
            finally:
                places.release()

        async def sealed(shard: Shard, tasks: list["asyncio.Task[None]"], ids: list[str]) -> None:
            await asyncio.gather(*tasks)
            if not failures.causes.keys() & set(ids):
                seal(shard, ids, totals=totals(shard), cost=cost_of(shard))

        for shard, questions in shards:
            stages, tasks = Stages(shard, engine, lazy), []
            for question in questions:
                await places.acquire()
                tasks.append(group.create_task(one(stages, question)))
            group.create_task(sealed(shard, tasks, order(questions)))


def order(questions: list[Question]) -> list[str]:
    """The ids of all turns in the order in which a shard's files have them."""
    most = max((len(question.turns) for question in questions), default=0)
    return [q.turn_id(turn) for turn in range(most) for q in questions if turn < len(q.turns)]
