"""Many prompts, shard by shard, into a run folder that can be gone on with."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from darc.engine.engine import Engine
from darc.runs.folder import RunFolder
from darc.runs.local import WINDOW, fill_shards
from darc.runs.questions import Question, Questions
from darc.runs.shard import Shard

SHARD_SIZE = 1000
Report = Callable[[str, int, int], None]


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
