"""Many prompts, shard by shard, into a run folder that can be gone on with."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from darc.engine.engine import Engine
from darc.errors import DarcError, InputError, MissingExtra
from darc.runs.folder import RunFolder
from darc.runs.questions import Question, Questions
from darc.runs.shard import Shard
from darc.runs.stages import Stages
from darc.runs.summary import cost_of, totals

logger = logging.getLogger(__name__)

WINDOW = 64
MOST_FAILURES = 20
Counted = Callable[[str, int], None]
Report = Callable[[str, int, int], None]


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
    report: Counted = lambda stage, done: None,
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
    report: Counted,
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


def run(
    folder: RunFolder,
    questions: Questions | Sequence[Question],
    engine: Engine,
    *,
    lazy: bool = False,
    keep: str = "all",
    pack: bool = False,
    window: int = WINDOW,
    report: Report = lambda stage, done, total: None,
) -> None:
    """Take every question through all stages; what is written already is not done again.

    `report(stage, done, total)` counts prompts. What a lazy run left out is made when this one is
    not lazy. Of a finished shard `keep` says what is left, and `pack` compresses it.
    """
    if isinstance(questions, Questions):
        total = questions.turns
    else:
        total = sum(len(question.turns) for question in questions)
    done = 0

    def add(stage: str, more: int) -> None:
        nonlocal done
        done += more
        report(stage, done, total)

    def begun() -> Iterator[tuple[Shard, list[Question]]]:
        for number, part in waiting(folder, questions, lazy, add):
            shard = folder.shard(number)
            shard.begin()
            yield shard, part

    engine.run(
        fill_shards(begun(), engine, lazy=lazy, keep=keep, pack=pack, window=window, report=add)
    )
    finish(folder)


def waiting(
    folder: RunFolder,
    questions: Questions | Sequence[Question],
    lazy: bool,
    add: Callable[[str, int], None],
) -> Iterator[tuple[int, list[Question]]]:
    """The shards that are not finished, with their questions; the others are counted at once."""
    for number, part in enumerate(parts(folder, questions)):
        if folder.finished(number, lazy):
            add("deciding", sum(len(question.turns) for question in part))
        else:
            yield number, part


def parts(folder: RunFolder, questions: Questions | Sequence[Question]) -> Iterator[list[Question]]:
    """The questions of each shard."""
    size, left = int(folder.manifest().get("shard_size", 0)), iter(questions)
    while part := list(islice(left, size or None)):
        yield part


def finish(folder: RunFolder) -> None:
    """Write down that the run is done, and whether nothing was left out."""
    seals = [shard.seal_data for shard in folder.shards()]
    complete = not any(seal is None or seal.get("lazy") for seal in seals)
    done = {"finished": True, "complete": complete, "shards": len(seals)}
    folder.write_manifest({**folder.manifest(), **done})
