"""Experiments on simulated people, where the truth is known."""

from collections.abc import Callable

from darc.analysis.experiments.gains import buckets, hacking, raters_needed
from darc.analysis.experiments.result import Findings
from darc.analysis.experiments.truth import coverage, disagreement

# By name, with how many prompts are usual: (preset, seed, *, report) -> Findings; all randomness
# comes from the seed.
EXPERIMENTS: dict[str, tuple[Callable[..., Findings], int]] = {
    "disagreement": (disagreement, 4000),
    "coverage": (coverage, 500),
    "buckets": (buckets, 4000),
    "raters": (raters_needed, 1500),
    "hacking": (hacking, 200),
}

__all__ = ["EXPERIMENTS", "Findings"]
