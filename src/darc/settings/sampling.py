"""What the samples of an answer are: scores of its rewrites, or the grades of a panel."""

from typing import ClassVar, Literal

from darc.settings.choices import Acceptance
from darc.settings.generation import SPEC
from darc.settings.model import SettingsModel, option

#: How the raters of a panel grade.
PanelMode = Literal["listwise", "separate", "pairwise"]


class RewriteSettings(SettingsModel):
    """How answers are rewritten."""

    subject: ClassVar[str] = "rewrites"

    rewriter: str = option("rules", "what rewrites the answers; see `darc rewriters`", SPEC)
    n_aug: int = option(8, "how many rewrites to make per answer", "N", per_request=True, ge=0)
    max_attempts: int | None = option(
        None,
        "how many rewrites to propose until enough are accepted (default: 4 times --n-aug)",
        "N",
        ge=1,
    )
    family: Literal["style", "targeted", "hybrid"] = option(
        "style", "which kind of rewrites to make"
    )
    acceptance: Acceptance | None = option(
        None,
        "which checks a rewrite must pass: paper (length, numerals, dates, addresses and names, "
        "and no duplicates) or strict (also that nothing is added, left out, negated or swapped, "
        "and that the meaning is close) (default: paper for the rewriter llm, strict for others)",
    )
    entities: str = option(
        "", "a model that finds the names in rewrites, so that none is changed", "MODEL"
    )
    include_original: bool = option(
        True,
        "score the rewrites only, and not the answer itself",
        flag="--no-original",
        per_request=True,
    )
    guard: bool = option(
        True, "do not compare the meaning of rewrites by embeddings", flag="--no-guard"
    )


class PanelSettings(SettingsModel):
    """Who grades the answers, in place of rewrites and scorers."""

    subject: ClassVar[str] = "a panel of raters, in place of rewrites and scorers"

    panel: tuple[str, ...] = option(
        (),
        "raters with different points of view who grade the answers: the first N of DARC's own (1 "
        "is a single judge), those of a file, or the judges that stand for them (one for all "
        "raters, or one each); may be repeated. Default: eight raters, judged by the model that "
        "answers, where that is on a server and no --scorer is given",
        "N|FILE.toml|judge:MODEL@URL",
        nargs="?",
        bare_value="",
        common=True,
    )
    panel_mode: PanelMode | None = option(
        None,
        "how raters judge: listwise (one call per rater, who grades all answers), separate (one "
        "call per rater and answer) or pairwise (each rater compares pairs of answers in both "
        "orders) (default: listwise)",
    )
    panel_waves: int | None = option(
        None,
        "in how many waves the raters are asked; with 2, the second half only if their grades are "
        "worth asking for (`ask` and `serve`, listwise panels) (default: 1)",
        "1|2",
        ge=1,
        le=2,
    )
    repeats: int | None = option(
        None, "ask each rater N times, to tell noise from points of view", "N", ge=1
    )
    criteria: str | None = option(
        None, "what each rater grades in one call; the mean of the grades counts", "NAME,NAME..."
    )
    missing: Literal["abstain", "pessimistic", "refuse"] | None = option(
        None,
        "what to do when a rater returns no grade: abstain (leave it out and flag it), pessimistic "
        "(count it as the lowest grade) or refuse (fail the request) (default: abstain)",
    )


class SamplingSettings(RewriteSettings, PanelSettings):
    """What the samples of an answer are: scores of its rewrites, or the grades of a panel."""
