"""A run of what costs nothing, for tests of what surrounds it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.engine.makers import IDS, QUESTIONS, Lengths, Vowels, Words

from darc.engine.engine import Engine
from darc.engine.side_inputs import SideInputMaker
from darc.parts.generators.base import SamplingParameters
from darc.runs.folder import RunFolder
from darc.runs.manifest import make_manifest
from darc.runs.questions import Question
from darc.runs.run import run
from darc.runs.shard import ORDER

__all__ = ["IDS", "QUESTIONS", "Lengths", "Vowels", "Words", "contents", "many", "rows", "start"]


def start(
    path: Path,
    rule: str = "epsilon",
    *,
    lazy: bool = False,
    normalize: str = "fixed",
    restart: str | None = None,
    generator: Words | None = None,
    scorers: Sequence[Lengths] | None = None,
    questions: Sequence[Question] = QUESTIONS,
    cache: Any = False,
    n_aug: int = 3,
    include_original: bool = True,
    shard_size: int = 1000,
    stop: str | None = None,
    **options: Any,
) -> RunFolder:
    """A run with questions, a generator and scorers that cost nothing."""
    folder = RunFolder(path)
    with Engine(
        generator or Words(),
        scorers=scorers or [Lengths(), Vowels()],
        rule=rule,
        n_aug=n_aug,
        include_original=include_original,
        normalize=normalize,
        sampling=SamplingParameters(k=4),
        stop=stop,
        guard=False,
        side=SideInputMaker({}, None),
        cache=cache,
    ) as engine:
        try:
            made = make_manifest(str(questions), engine)
            folder.open({**made, "shard_size": shard_size}, restart)
            run(folder, questions, engine, lazy=lazy, **options)
        finally:
            folder.close()
    return folder


def rows(folder: RunFolder, name: str) -> dict[str, dict[str, Any]]:
    """The rows of a file over all shards."""
    return {key: row for shard in folder.shards() for key, row in shard.rows(name).items()}


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of everything but the timings."""
    paths = [folder / "manifest.json"]
    for shard in sorted((folder / "shards").iterdir()):
        paths += [shard / name for name in (*ORDER, "shard.json")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def many(count: int) -> list[Question]:
    """Questions, every other one of two turns."""
    return [
        Question(str(i), (f"Why are there {i} tides?", "And then?")[: 1 + i % 2])
        for i in range(count)
    ]
