"""Options that engines, commands and services share, each with its default and its help."""

from typing import Any, Literal

from darc.decide.caution import parse_caution
from darc.decide.method import Normalize
from darc.decide.registry import DEFAULT_RULE
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import Standards, as_standards
from darc.settings.model import SettingsModel, option

SPEC = "NAME[:ARGUMENT][,KEY=VALUE...]"


class PeopleOptions(SettingsModel):
    """How much disagreement matters, and what counts as a good rating."""

    caution: str | None = option(
        None,
        "how much average rating to give up for an answer that divides people less "
        "(default: medium)",
        "none|low|medium|high|NUMBER",
    )
    no_rating_below: float | None = option(
        None, "choose only among answers all of whose ratings reach this", "RATING"
    )
    poor_below: float | None = option(
        None,
        "flag the choice as held (none of the answers is good) if its mean is very probably below "
        "this (default: the middle of the scale)",
        "RATING",
    )
    threshold: float | None = option(
        None,
        "people who rate an answer below this are unhappy with it (default: the middle of the "
        "scale)",
        "RATING",
    )
    scale: str | None = option(
        None, "the lowest and the highest rating that can be given, such as 1-5", "LOW-HIGH"
    )

    @property
    def standards(self) -> Standards:
        """What counts as a good rating."""
        return as_standards(self.scale, self.threshold, self.no_rating_below, self.poor_below)

    @property
    def rule_parameters(self) -> dict[str, Any]:
        """The parameters of the rule among these options.

        Raises:
            InputError: If the caution is neither a known name nor a number from 0 up.
        """
        if self.caution is None:
            return {}
        parse_caution(self.caution)
        return {"caution": self.caution}


class ChoosingOptions(PeopleOptions):
    """How candidates are decided on, and when there are enough of them."""

    rule: str = option(DEFAULT_RULE, "see darc rules", "NAME[:KEY=VALUE,...]")
    beta: float = option(1.0, "risk aversion", ge=0)
    gamma: float = option(1.0, "hedge over scorers", ge=0)
    normalize: Normalize = option("auto", "how several scorers are put on one scale")
    search: SearchMode = option(
        "exact",
        "when to stop asking for scores or grades: exact (when no further one can change the "
        "choice) or likely (when the choice is final with a probability of 0.99, which takes fewer "
        "calls and is flagged); likely is for rule auto on the grades of a panel, and everything "
        "else is searched exactly",
    )
    stop: str = option(
        "none",
        "pandora writes a few answers at a time, and stops where more are not expected to gain "
        "their cost, in the scorers' standard deviations an answer",
        "none|pandora[:cost=0.02,wave=N,least=2]",
    )


class SampleOptions(SettingsModel):
    """What the samples of an answer are."""

    rewriter: str = option("rules", "see darc rewriters", SPEC)
    n_aug: int = option(8, "rewrites of each", ge=0)
    max_attempts: int | None = option(
        None, "proposals of each until enough are accepted (default: 4 times --n-aug)", "N", ge=1
    )
    min_samples: int | None = option(
        None, "leave out answers with fewer (default: half of the largest number)", "N", ge=1
    )
    family: Literal["style", "targeted", "hybrid"] = option("style", "of rewrites")
    entities: str = option("", "a model that finds names in rewrites", "MODEL")
