"""The evaluated numbers of an experiment, looked up by generator, benchmark, source and rule."""

from collections.abc import Iterator
from typing import Any

from darc.analysis.evaluate.methods import BASELINE, compared_methods
from darc.analysis.frame import Frame
from darc.analysis.report.cost_tables import SECONDS
from darc.analysis.run_ratings import load_run
from darc.reproduce.evaluate_step import PEOPLE, read_frames_files
from darc.reproduce.experiment import BASE, Experiment, GeneratorConfig
from darc.reproduce.folder import ExperimentFolder

Record = dict[str, Any]


class Results:
    """The frames of all evaluations.

    Args:
        experiment: The experiment.
        folder: Its folder.
    """

    def __init__(self, experiment: Experiment, folder: ExperimentFolder) -> None:
        self.experiment = experiment
        self.folder = folder
        self._frames: dict[tuple[str, str], dict[str, Frame]] = {}
        for generator in experiment.generators:
            for benchmark in generator.benchmarks:
                path = folder.evaluation(generator.name, benchmark)
                self._frames[generator.name, benchmark] = read_frames_files(path)

    def records(self, cell: tuple[str, str], frame: str, **cells: Any) -> list[Record]:
        """The rows of a frame that have some cells; none if there is no such frame."""
        found = self._frames.get(cell, {}).get(frame)
        if found is None:
            return []
        return found.where(**cells).records()

    def frame(self, cell: tuple[str, str], name: str) -> Frame | None:
        """The frame of a name, if there is one."""
        return self._frames.get(cell, {}).get(name)

    def record(self, cell: tuple[str, str], frame: str, **cells: Any) -> Record:
        """The first row of a frame that has some cells; empty if there is none."""
        rows = self.records(cell, frame, **cells)
        if not rows:
            return {}
        return rows[0]

    def stage_seconds(self, n_aug: int) -> dict[str, float]:
        """Seconds per prompt by stage of a measured run; none if it was not made."""
        path = self.folder.timed(n_aug)
        if not path.is_dir():
            return {}
        ratings = load_run(path)
        return {
            name.removesuffix(SECONDS): total / len(ratings.prompt_ids)
            for name, total in ratings.costs.items()
            if name.endswith(SECONDS)
        }

    @property
    def human_cell(self) -> tuple[str, str] | None:
        """The generator and benchmark whose answers people rated, None without ratings."""
        if not self.experiment.has_ratings:
            return None
        return self.experiment.rated_cell

    def main_cells(self) -> Iterator[tuple[GeneratorConfig, str]]:
        """The generators of the main table with their benchmarks."""
        for generator in self.experiment.generators:
            if generator.full:
                for benchmark in generator.benchmarks:
                    yield generator, benchmark


def method_text(rule: str) -> str:
    """What evaluations call a rule."""
    if rule == BASELINE:
        return BASELINE
    return compared_methods([rule])[-1].text


def judged(source: str = BASE) -> str:
    """What evaluations call a source that people judge."""
    return f"{source} judged by {PEOPLE}"
