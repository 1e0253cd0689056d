"""Experiments on simulated people, whose true opinions are known."""

from collections.abc import Callable
from dataclasses import dataclass

from darc.analysis.experiments.asking import asking
from darc.analysis.experiments.buckets import buckets
from darc.analysis.experiments.coverage import coverage
from darc.analysis.experiments.disagreement import disagreement
from darc.analysis.experiments.findings import Findings
from darc.analysis.experiments.hacking import hacking
from darc.analysis.experiments.raters_needed import raters_needed


@dataclass(frozen=True)
class Experiment:
    """An experiment and its usual size."""

    #: Called as run(preset, seed, report=...); all randomness comes from the seed.
    run: Callable[..., Findings]
    #: The usual number of prompts.
    prompts: int
    #: The usual preset.
    preset: str = "paper"


EXPERIMENTS = {
    "disagreement": Experiment(disagreement, 4000),
    "coverage": Experiment(coverage, 500),
    "buckets": Experiment(buckets, 4000),
    "raters": Experiment(raters_needed, 1500),
    "hacking": Experiment(hacking, 200, "hacking"),
    "asking": Experiment(asking, 1000, "doubtful"),
}

__all__ = ["EXPERIMENTS", "Experiment", "Findings"]
