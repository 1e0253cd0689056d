"""An evaluation: sources in, frames and warnings out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from darc.errors import DarcError, InputError
from darc.evaluation.frame import Frame, joined
from darc.evaluation.source import Source
from darc.evaluation.study import Report, Settings, Study, make_study
from darc.evaluation.tables.buckets import bucket_table
from darc.evaluation.tables.human import human_table
from darc.evaluation.tables.main import main_table
from darc.evaluation.tables.pool import pool_table
from darc.evaluation.warnings import source_warnings, study_warnings

Made = TypeVar("Made")

STUDY_TABLES: tuple[Callable[[Study], Frame], ...] = (main_table, human_table, bucket_table)
SOURCE_TABLES: tuple[Callable[[Source], Frame], ...] = (pool_table,)


@dataclass
class Evaluation:
    """The frames of all sources, the studies that they were made from, and what to be warned of.

    A frame's first column is the source, so several sources stand side by side.
    """

    settings: Settings
    sources: list[Source]
    studies: list[Study] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def frame(self, name: str) -> Frame | None:
        """The frame of this name, if it was made."""
        return next((frame for frame in self.frames if frame.name == name), None)


def evaluate(
    sources: Sequence[Source], settings: Settings | None = None, report: Report | None = None
) -> Evaluation:
    """Everything that the sources allow; what cannot be made is a warning, and the rest is made."""
    if not sources:
        raise InputError("there is nothing to evaluate", "name a file of ratings or a run folder")
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two sources are called {name!r}", "rename one")
    result = Evaluation(settings or Settings(), list(sources))
    made: list[Frame] = []
    for source in sources:
        result.warnings += source_warnings(source)
        made += _each(result, (partial(table, source) for table in SOURCE_TABLES))
        for study in _each(result, [partial(make_study, source, result.settings, report)]):
            result.studies.append(study)
            result.warnings += study_warnings(study)
            made += _each(result, (partial(table, study) for table in STUDY_TABLES))
    result.frames = joined(frame for frame in made if len(frame))
    return result


def _each(result: Evaluation, makers: Iterable[Callable[[], Made]]) -> list[Made]:
    """What the makers give; the sentence of one that fails is a warning."""
    made = []
    for make in makers:
        try:
            made.append(make())
        except DarcError as problem:
            result.warnings.append(str(problem))
    return made
