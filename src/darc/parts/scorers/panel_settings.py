"""The TOML file of a panel, and its checks."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from darc.settings.model import SettingsModel
from darc.settings.sampling import PanelMode

#: What to do when a rater returns no grade: leave it out and flag it.
ABSTAIN: Final = "abstain"
#: What to do when a rater returns no grade: count it as the lowest grade.
PESSIMISTIC: Final = "pessimistic"
#: What to do when a rater returns no grade: fail the request.
REFUSE: Final = "refuse"
#: How raters grade: one call per rater, which sees all answers at once.
LISTWISE: Final = "listwise"
#: How raters grade: one call per rater and answer.
SEPARATE: Final = "separate"
#: How raters judge: they compare pairs of answers in both orders.
PAIRWISE: Final = "pairwise"
#: The name of the scorer that raters are made of.
JUDGE = "judge"
_MAX_RATERS = 64
_NAME = re.compile(r"[^\s:,#|](?:[^\n:,#|]{0,58}[^\s:,#|])?")


def _check_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("a name has 1 to 60 characters, no : , # or |")
    return value


def _check_judge(value: str) -> str:
    if value and not value.startswith(f"{JUDGE}:"):
        raise ValueError("write judge:MODEL@URL")
    return value


def _check_distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [value if isinstance(value, str) else value.name for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the name {name!r} is given twice")
    return values


_Name = Annotated[str, AfterValidator(_check_name)]
_JudgeSpec = Annotated[str, AfterValidator(_check_judge)]


class RaterSettings(SettingsModel):
    """A [[rater]] of a panel's file."""

    name: _Name
    view: str = ""
    model: _JudgeSpec = ""


class PanelSettings(SettingsModel):
    """A panel's file."""

    rater: Annotated[
        tuple[RaterSettings, ...],
        Field(min_length=1, max_length=_MAX_RATERS),
        AfterValidator(_check_distinct),
    ]
    repeats: Annotated[int, Field(ge=1, le=_MAX_RATERS, strict=True)] = 1
    criteria: Annotated[tuple[_Name, ...], AfterValidator(_check_distinct)] = ()
    missing: Literal["abstain", "pessimistic", "refuse"] = ABSTAIN
    model: _JudgeSpec = ""
    mode: PanelMode = LISTWISE
    waves: Literal[1, 2] = 1
