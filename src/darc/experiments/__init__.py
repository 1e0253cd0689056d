"""Experiments on simulated people, where the truth is known."""

from collections.abc import Callable

from darc.errors import UnknownName
from darc.experiments.gains import buckets, raters_needed
from darc.experiments.hacking import hacking
from darc.experiments.result import Findings
from darc.experiments.truth import coverage, disagreement

# By name: (preset, seed, *, report) -> Findings; all randomness comes from the seed.
EXPERIMENTS: dict[str, Callable[..., Findings]] = {
    "disagreement": disagreement,
    "coverage": coverage,
    "buckets": buckets,
    "raters": raters_needed,
    "hacking": hacking,
}
PROMPTS = {"disagreement": 4000, "coverage": 500, "buckets": 4000, "raters": 1500, "hacking": 200}


def experiment(name: str) -> Callable[..., Findings]:
    """The experiment of this name."""
    if name not in EXPERIMENTS:
        raise UnknownName("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


__all__ = ["EXPERIMENTS", "PROMPTS", "Findings", "experiment"]
