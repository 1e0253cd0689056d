"""A run: many prompts, shard by shard, into a folder from which a stopped run goes on."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count as count_up
from itertools import islice

from darc.engine.cost import SharedTime
from darc.engine.engine import Engine
from darc.errors import DarcError, InputError, MissingExtra
from darc.runs.folder import RunFolder
from darc.runs.questions import Question
from darc.runs.shard import Shard
from darc.runs.stages import Stages
from darc.runs.summary import shard_totals, sum_costs

logger = logging.getLogger(__name__)

#: How many questions are worked on at a time.
WINDOW = 64
# So many prompts may fail before the run is given up.
_MAX_FAILURES = 20
# How many failed prompts an error lists.
_LISTED_FAILURES = 8
#: Told of progress, as report(stage, done, total).
Report = Callable[[str, int, int], None]

# How many shards may wait to be sealed, besides those of the questions that are worked on.
_MAX_OPEN_SHARDS = 4


@dataclass
class Failures:
    """Prompts that could not be finished; too many of them end the run."""

    #: Why, by prompt id.
    causes: dict[str, DarcError] = field(default_factory=dict)

    def add(self, prompt_id: str, problem: DarcError) -> None:
        """Note a failure.

        Raises:
            InputError: If it is a mistake of the user's.
            MissingExtra: If an optional dependency is not installed.
            DarcError: If it is one failure too many.
        """
        if isinstance(problem, InputError | MissingExtra):
            raise problem
        self.causes[prompt_id] = problem
        logger.error("prompt %r failed: %s", prompt_id, problem)
        if len(self.causes) >= _MAX_FAILURES:
            self.check()

    def check(self) -> None:
        """Raise the first failure, if there is any, and say how many there are."""
        if not self.causes:
            return
        first_cause = next(iter(self.causes.values()))
        if len(self.causes) == 1:
            raise first_cause
        listed_ids = ", ".join(list(self.causes)[:_LISTED_FAILURES])
        message = f"{len(self.causes)} prompts failed ({listed_ids}), the first: "
        raise DarcError(message + first_cause.message, first_cause.hint)


def run(
    folder: RunFolder,
    questions: Iterable[Question],
    engine: Engine,
    *,
    lazy: bool = False,
    keep: str = "all",
    pack: bool = False,
    window: int = WINDOW,
    report: Report = lambda stage, done, total: None,
) -> None:
    """Take every question through all stages; what is written already is not done again.

    Args:
        folder: The run folder, which is open.
        questions: The questions.
        engine: What writes, rewrites, scores and decides.
        lazy: Whether to leave out rewrites and scores that cannot change a decision. What a lazy
            run left out is made when this one is not lazy.
        keep: Which files of a finished shard are left: "all", "scores" or "decisions".
        pack: Whether to compress them.
        window: How many questions to work on at a time.
        report: Told of prompts that are done, as report(stage, done, total).

    Raises:
        DarcError: If prompts failed. The others are done.
    """
    count = prompt_counter("deciding", questions, report)

    def unfinished_shards() -> Iterator[tuple[Shard, list[Question]]]:
        for shard, part in waiting_shards(folder, questions, lazy, count):
            shard.begin()
            yield shard, part

    engine.run(
        fill_shards(
            unfinished_shards(),
            engine,
            lazy=lazy,
            keep=keep,
            pack=pack,
            window=window,
            count=count,
        )
    )
    finish_run(folder)


async def fill_shards(
    shards: Iterable[tuple[Shard, list[Question]]],
    engine: Engine,
    *,
    lazy: bool = False,
    keep: str = "all",
    pack: bool = False,
    window: int = WINDOW,
    count: Callable[[int], None] = lambda more: None,
    failures: Failures | None = None,
) -> None:
    """Take the questions of shards through all stages, and seal each shard that is done.

    A question that fails leaves its shard open. The others go on, and the failure is raised at the
    end.

    Args:
        shards: Shards with their questions.
        engine: What writes, rewrites, scores and decides.
        lazy: As for `run`.
        keep: As for `run`.
        pack: As for `run`.
        window: How many questions to work on at a time, from as few shards as that takes.
        count: Told of prompts that are done.
        failures: Gathers the failures.

    Raises:
        DarcError: If prompts failed.
    """
    if failures is None:
        failures = Failures()
    shared_time = SharedTime()
    places = asyncio.Semaphore(window)
    # A shard keeps its rows in memory until it is sealed, so that there must not be many.
    open_questions = 0
    shard_sealed = asyncio.Event()

    async def answer(stages: Stages, question: Question) -> None:
        try:
            await stages.answer(question, count)
        except DarcError as problem:
            failures.add(question.id, problem)
        finally:
            places.release()

    async def seal(shard: Shard, tasks: list["asyncio.Task[None]"], ids: list[str]) -> None:
        await asyncio.gather(*tasks)
        if not failures.causes.keys() & set(ids):
            shard.seal(ids, keep, pack, shard_totals(shard), sum_costs([shard]))
        nonlocal open_questions
        open_questions -= len(tasks)
        shard_sealed.set()

    try:
        async with asyncio.TaskGroup() as group:
            for shard, questions in shards:
                stages = Stages(shard, engine, lazy, shared_time)
                tasks = []
                for question in questions:
                    await places.acquire()
                    tasks.append(group.create_task(answer(stages, question)))
                group.create_task(seal(shard, tasks, _prompt_ids(questions)))
                open_questions += len(tasks)
                while open_questions > window + _MAX_OPEN_SHARDS * len(tasks):
                    shard_sealed.clear()
                    await shard_sealed.wait()
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
    failures.check()


def _prompt_ids(questions: Iterable[Question]) -> list[str]:
    """The ids of all prompts: the first turns of all questions, then the second ones, and so on."""
    ids_by_turn: dict[int, list[str]] = {}
    for question in questions:
        for turn in range(len(question.turns)):
            ids_by_turn.setdefault(turn, []).append(question.turn_id(turn))
    return [prompt_id for turn in sorted(ids_by_turn) for prompt_id in ids_by_turn[turn]]


def prompt_counter(
    stage: str, questions: Iterable[Question], report: Report
) -> Callable[[int], None]:
    """A function that is told of prompts that are done, and reports how many of all are."""
    total = getattr(questions, "turns", None)
    if total is None:
        total = sum(len(question.turns) for question in questions)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        report(stage, done, total)

    return count


def waiting_shards(
    folder: RunFolder, questions: Iterable[Question], lazy: bool, count: Callable[[int], None]
) -> Iterator[tuple[Shard, list[Question]]]:
    """The shards that are not finished, with their questions.

    Args:
        folder: The run folder.
        questions: All questions of the run.
        lazy: Whether the shard of a lazy run counts as finished.
        count: Told of the prompts of finished shards.

    Yields:
        A shard and its questions.
    """
    shard_size = int(folder.manifest().get("shard_size", 0))
    remaining = iter(questions)
    for number in count_up():
        part = list(islice(remaining, shard_size or None))
        if not part:
            return
        shard = folder.shard(number)
        if shard.finished(lazy):
            count(sum(len(question.turns) for question in part))
        else:
            yield shard, part


def finish_run(folder: RunFolder) -> None:
    """Note in the manifest that the run is done, and whether nothing was left out."""
    seals = [shard.seal_data for shard in folder.shards()]
    complete = not any(seal is None or seal.get("lazy") for seal in seals)
    state = {"finished": True, "complete": complete, "shards": len(seals)}
    folder.write_manifest({**folder.manifest(), **state})
