"""Experiments on simulated people, where the truth is known."""

from collections.abc import Callable
from typing import Protocol

from darc.errors import UnknownName
from darc.evaluation.experiments.buckets import buckets
from darc.evaluation.experiments.coverage import coverage
from darc.evaluation.experiments.disagreement import disagreement
from darc.evaluation.experiments.hacking import hacking
from darc.evaluation.experiments.raters_needed import raters_needed
from darc.evaluation.experiments.result import Line, Panel, Report, Result
from darc.simulate import Preset


class Experiment(Protocol):
    """Runs on a preset's people; all randomness comes from the seed."""

    def __call__(self, preset: Preset, seed: int = 0, *, report: Report = ...) -> Result:
        """The experiment's `Result`."""
        ...


EXPERIMENTS: dict[str, Experiment] = {
    "disagreement": disagreement,
    "coverage": coverage,
    "buckets": buckets,
    "raters": raters_needed,
    "hacking": hacking,
}
PROMPTS = {"disagreement": 4000, "coverage": 500, "buckets": 4000, "raters": 1500, "hacking": 200}


def experiment(name: str) -> Callable[..., Result]:
    """The experiment of this name."""
    if name not in EXPERIMENTS:
        raise UnknownName("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


__all__ = [
    "EXPERIMENTS",
    "PROMPTS",
    "Experiment",
    "Line",
    "Panel",
    "Report",
    "Result",
    "buckets",
    "coverage",
    "disagreement",
    "experiment",
    "hacking",
    "raters_needed",
]
