"""Options that engines, commands and services share, each with its default and its help."""

from typing import Literal

from darc.config import Model, option
from darc.registry import DEFAULT_RULE

SPEC = "NAME[:ARGUMENT][,KEY=VALUE...]"
Normalize = Literal["auto", "prompt", "fixed", "none"]


class ChoosingOptions(Model):
    """How candidates are decided on, and when there are enough of them."""

    rule: str = option(DEFAULT_RULE, "see darc rules", "NAME[:KEY=VALUE,...]")
    beta: float = option(1.0, "risk aversion", ge=0)
    gamma: float = option(1.0, "hedge over scorers", ge=0)
    normalize: Normalize = option("auto", "how several scorers are put on one scale")
    stop: str = option(
        "none",
        "pandora writes a few answers at a time, and stops where more are not expected to gain "
        "their cost, in the scorers' standard deviations an answer",
        "none|pandora[:cost=0.02,wave=N,least=2]",
    )


class SampleOptions(Model):
    """What the samples of an answer are."""

    rewriter: str = option("rules", "see darc rewriters", SPEC)
    n_aug: int = option(8, "rewrites of each", ge=0)
    max_attempts: int | None = option(
        None, "proposals of each until enough are accepted (default: 4 times --n-aug)", "N", ge=1
    )
    min_samples: int = option(1, "leave out answers with fewer, where another has as many", "N")
    family: Literal["style", "targeted", "hybrid"] = option("style", "of rewrites")
    entities: str = option("", "a model that finds names in rewrites", "MODEL")
