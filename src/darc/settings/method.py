"""How a candidate is chosen: the rule, how cautious it is, and what counts as a good rating."""

from pathlib import Path
from typing import ClassVar

from darc.settings.choices import Normalize, SearchMode, Slate
from darc.settings.general import SeedSettings
from darc.settings.model import SettingsModel, option

#: How rules are written.
RULE = "NAME[:KEY=VALUE,...]"


class CautionSettings(SettingsModel):
    """How much disagreement matters to the default rule."""

    subject: ClassVar[str] = "choosing"

    caution: str | None = option(
        None,
        "how much average rating to give up for an answer that divides people less (default: "
        "medium)",
        "none|low|medium|high|NUMBER",
        common=True,
    )
    calibration: Path | None = option(
        None, "calibration file for the default rule, written by `darc calibrate`", "FILE"
    )


class ScaleSettings(SettingsModel):
    """The scale of ratings, and who counts as unhappy."""

    subject: ClassVar[str] = "choosing"

    threshold: float | None = option(
        None,
        "people who rate an answer below this are unhappy with it (default: the middle of the "
        "scale)",
        "RATING",
        per_request=True,
    )
    scale: str | None = option(
        None,
        "the lowest and the highest rating that can be given, such as 1-5",
        "LOW-HIGH",
        per_request=True,
    )


class StandardsSettings(ScaleSettings):
    """What counts as a good rating."""

    subject: ClassVar[str] = "choosing"

    no_rating_below: float | None = option(
        None,
        "choose only among answers all of whose ratings reach this",
        "RATING",
        per_request=True,
    )
    poor_below: float | None = option(
        None,
        "flag the choice as held (none of the answers is good) if its mean is very probably below "
        "this (default: the middle of the scale)",
        "RATING",
        per_request=True,
    )


class GroupSettings(SettingsModel):
    """Which groups of raters the choice is for."""

    subject: ClassVar[str] = "groups of raters"

    for_group: str | None = option(
        None,
        "choose for this group of raters (column rater_group), by what it is expected to think",
        "GROUP",
        flag="--for",
    )
    mix: str | None = option(
        None,
        "choose for raters of whom these shares are in each group",
        "GROUP=SHARE,...",
    )
    worst_group: bool = option(False, "choose for the group that each answer serves worst")
    no_group_below: float | None = option(
        None,
        "choose only among answers that no group rates below this on average, with a probability "
        "of 90 %",
        "RATING",
    )

    @property
    def group_parameters(self) -> dict[str, object]:
        """The parameters of the rule `for_groups`; none where nothing is said of groups."""
        parameters: dict[str, object] = {}
        if self.for_group is not None:
            parameters["group"] = self.for_group
        if self.mix is not None:
            parameters["mix"] = self.mix
        if self.worst_group:
            parameters["worst"] = True
        if self.no_group_below is not None:
            parameters["floor"] = self.no_group_below
        return parameters


class RiskSettings(SettingsModel):
    """The numbers that the statistics of all rules depend on."""

    subject: ClassVar[str] = "choosing"

    beta: float = option(
        1.0, "risk aversion: how strongly low samples count", ge=0, lt=1e12, per_request=True
    )
    gamma: float = option(
        1.0, "how strongly the least favourable scorer counts", ge=0, lt=1e12, per_request=True
    )
    normalize: Normalize = option(
        "auto",
        "how several scorers are put on one scale: prompt (within the prompt), fixed (by the "
        "scorers' own location and scale), none, or auto (none for a single scorer)",
        per_request=True,
    )


class MethodSettings(CautionSettings, StandardsSettings, RiskSettings, SeedSettings):
    """How a candidate is chosen."""

    subject: ClassVar[str] = "choosing"

    rule: str = option(
        "auto",
        "the selection rule with its parameters; `darc rules` lists them",
        RULE,
        common=True,
        per_request=True,
    )
    min_samples: int | None = option(
        None,
        "leave out candidates with fewer samples, where another has as many (default: half of "
        "the largest number; rules that shrink small samples keep all candidates)",
        "N",
        ge=1,
    )


class SearchSettings(SettingsModel):
    """When to stop asking for scores, and which answers to return."""

    subject: ClassVar[str] = "choosing"

    search: SearchMode = option(
        "exact",
        "when to stop asking for scores or grades: exact (when no further one can change the "
        "choice) or likely (when the choice is final with a probability of 0.99, which takes fewer "
        "calls and is flagged); likely is for the rule auto on the grades of a panel, and "
        "everything else is searched exactly",
        per_request=True,
    )
    adaptive: bool = option(
        False,
        "ask the raters of a panel only for grades that are worth a call, by what a --calibration "
        "knows of them; the choice is flagged likely, with the probability that all grades would "
        "lead to it",
        per_request=True,
    )
    call_price: float = option(
        0.005,
        "with --adaptive: what one call to a rater must improve the choice by, in standard "
        "deviations of an answer's grades; a lower price asks for more grades",
        "P",
        per_request=True,
        ge=0,
        lt=1e6,
    )
    slate: Slate = option(
        "different",
        "which answers a request for several gets from a panel: different (each further one "
        "serves raters whom the others serve badly) or best (the rule's second choice, third "
        "choice, ...)",
        per_request=True,
    )
