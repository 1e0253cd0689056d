"""The form of a run folder's rows and of its manifest.

What is read from a run folder is checked against these models, so that a file that was damaged or
edited is refused by the place of the fault and not by an error somewhere later.
"""

import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError
from pydantic_core import ErrorDetails

from darc.typing import Array

_WholeNumber = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
# Any number but NaN, which is not greater than minus infinity.
_NumberOrInfinity = Annotated[float, Field(ge=-np.inf)]
_Statistic = _Number | Literal["inf", "-inf"] | None
_Pair = Annotated[list[_Count], Field(min_length=2, max_length=2)]
_Interval = Annotated[list[_Number], Field(min_length=2, max_length=2)]
_NumberTable = list[list[list[_Number | None]]]
# The default of a field that may be absent. It must not be null where it is present.
_ABSENT: Any = None


class RowError(ValueError):
    """What is wrong with a row."""


class _Row(BaseModel):
    """An object with fields of exact types; further fields are allowed."""

    model_config = ConfigDict(strict=True, extra="allow")


class _ClosedRow(BaseModel):
    """An object with fields of exact types, and no others."""

    model_config = ConfigDict(strict=True, extra="forbid")


class _MessageRow(_ClosedRow):
    role: str
    content: str


class _CandidateRow(_ClosedRow):
    index: _Count
    text: str
    tokens: _Count = _ABSENT
    truncated: bool = _ABSENT
    log_likelihood: _Number | None = None
    seed: _WholeNumber | None = None
    certainty: _Number | None = None
    name: str = _ABSENT
    copies: _Count = _ABSENT
    other_names: list[str] = _ABSENT


class _VariantRow(_ClosedRow):
    candidate: _Count
    index: _Count
    text: str
    family: str
    rewriter: str


class _RejectionRow(_ClosedRow):
    candidate: _Count
    attempt: _Count
    text: str
    family: str
    rewriter: str
    reason: str


class PromptRow(_Row):
    """A row of prompts.jsonl."""

    prompt_id: str
    category: str
    messages: Annotated[list[_MessageRow], Field(min_length=1)]


class CandidatesRow(_Row):
    """A row of candidates.jsonl."""

    prompt_id: str
    candidates: list[_CandidateRow]
    failed: _Count = _ABSENT
    saved: _Count = _ABSENT


class RejectedRow(_Row):
    """A row of rejected.jsonl: the rewrites that were rejected."""

    prompt_id: str
    rejected: list[_RejectionRow]


class VariantsRow(_Row):
    """A row of variants.jsonl: the rewrites that were accepted."""

    prompt_id: str
    variants: list[_VariantRow]
    #: The candidates that were rewritten; all of them if absent.
    rewritten: list[_Count] = _ABSENT


class ScoresRow(_Row):
    """A row of scores.jsonl."""

    prompt_id: str
    scorers: list[str]
    #: (scorers, candidates, samples), null where there is no score.
    scores: _NumberTable
    #: Whether a lazy run left some out.
    lazy: bool = _ABSENT
    raters: list[str] = _ABSENT
    criteria: list[str] = _ABSENT
    #: (criteria, candidates, raters, repeats), null where there is no grade.
    grades: list[_NumberTable] = _ABSENT
    #: The candidates and raters of grades that could not be obtained.
    missing: list[_Pair] = _ABSENT


class SideRow(_Row):
    """A row of side.jsonl; its other fields are `SideInputs`."""

    prompt_id: str


class SideInputs(RootModel[dict[str, list[_Number] | list[list[_Number]]]]):
    """Side inputs by name: one number or one list of numbers per candidate."""


class _DecidedCandidateRow(_Row):
    index: _Count
    value: _Statistic
    mean: _Statistic
    sigma: _Statistic


class DecisionRow(_Row):
    """A row of decisions.jsonl."""

    prompt_id: str
    rule: str
    index: _Count
    flags: list[str]
    candidates: list[_DecidedCandidateRow]
    answer: str
    lazy: bool = _ABSENT
    calls_saved: _Count = _ABSENT


class TimingRow(_Row):
    """A row of timings.jsonl: what a stage of a prompt took."""

    prompt_id: str
    stage: str
    milliseconds: _Number
    answers: _Count = _ABSENT
    tokens: _Count = _ABSENT
    rewrites: _Count = _ABSENT
    scores: _Count = _ABSENT
    kept: _Count = _ABSENT


class AuditRow(ScoresRow):
    """A row of a gateway's audit log, as far as scores are concerned."""

    request_id: str


class _GeneratorSettings(_Row):
    name: str


class _RewriteSettings(_Row):
    n_aug: _Count
    family: str


class _ScorerSettings(_Row):
    name: str
    location: _Number | None
    scale: Annotated[_Number, Field(gt=0)] | None
    bounds: Annotated[list[_NumberOrInfinity], Field(min_length=2, max_length=2)]


class _RaterSettings(_Row):
    name: str


class _PanelSettings(_Row):
    criteria: list[str]
    repeats: _Count
    missing: str
    rater: list[_RaterSettings]


class _StandardsSettings(_ClosedRow):
    scale: _Interval = _ABSENT
    threshold: _Number = _ABSENT
    no_rating_below: _Number = _ABSENT
    poor_below: _Number = _ABSENT


class _DecisionSettings(_Row):
    rule: str
    beta: _NumberOrInfinity
    gamma: _NumberOrInfinity
    normalize: str
    calibration: str = _ABSENT
    caution: Annotated[_Number, Field(ge=0)] = _ABSENT
    standards: _StandardsSettings = _ABSENT


class _ManifestSettings(_ClosedRow):
    generator: _GeneratorSettings
    sampling: dict[str, Any]
    rewrites: _RewriteSettings
    side: dict[str, Any]
    decision: _DecisionSettings
    scorers: Annotated[list[_ScorerSettings], Field(min_length=1)]
    panel: _PanelSettings = _ABSENT


class Manifest(_Row):
    """The manifest of a run."""

    #: The hash of the questions.
    input: str
    seed: _WholeNumber
    finished: bool
    complete: bool
    settings: _ManifestSettings


#: The form of the rows of each file.
ROW_SCHEMAS: Mapping[str, type[BaseModel]] = {
    "prompts.jsonl": PromptRow,
    "candidates.jsonl": CandidatesRow,
    "rejected.jsonl": RejectedRow,
    "variants.jsonl": VariantsRow,
    "scores.jsonl": ScoresRow,
    "side.jsonl": SideRow,
    "decisions.jsonl": DecisionRow,
    "timings.jsonl": TimingRow,
}


def check_row(file_name: str, row: Any) -> None:
    """Check that a row has the form of its file.

    Args:
        file_name: The name of the file, such as "scores.jsonl".
        row: The row as JSON has it.

    Raises:
        RowError: If a field is absent or not allowed.
    """
    _check(ROW_SCHEMAS[file_name], row)
    if file_name == "side.jsonl":
        _check(SideInputs, {name: row[name] for name in row if name != "prompt_id"})
    elif file_name == "candidates.jsonl":
        indices = [candidate["index"] for candidate in row["candidates"]]
        if not indices or indices != list(range(len(indices))):
            raise RowError("the candidates are not numbered 0, 1, 2, ...")
    elif file_name == "scores.jsonl":
        _check_score_tables(row)
    elif file_name == "decisions.jsonl":
        indices = [candidate["index"] for candidate in row["candidates"]]
        if row["index"] not in indices:
            raise RowError(f"index is {row['index']}, and no candidate has it")


def check_manifest(manifest: Mapping[str, Any]) -> None:
    """Check the form of a manifest.

    Raises:
        RowError: If a part is absent or not allowed.
    """
    _check(Manifest, manifest)
    for place, scorer in enumerate(manifest["settings"]["scorers"]):
        low, high = scorer["bounds"]
        if low > high:
            raise RowError(f"settings.scorers[{place}].bounds cannot be {scorer['bounds']}")


def check_audit_row(row: Any) -> None:
    """Check the scores of a row of a gateway's audit log.

    Raises:
        RowError: If its scores are not a table. A row without scores is not checked.
    """
    if isinstance(row, dict) and not row.get("scores"):
        return
    _check(AuditRow, row)
    _check_score_tables(row)


def number_array(value: Any, field_name: str) -> Array:
    """Lists of lists as an array, NaN for null.

    Raises:
        RowError: If the lists have different lengths, or are empty.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except ValueError:
        raise RowError(f"{field_name} has rows of different lengths") from None
    if not array.size:
        raise RowError(f"{field_name} is not a table of numbers")
    return array


def _check(schema: type[BaseModel], row: Any) -> None:
    """Check a row against a model, with an error that names the field at fault."""
    if not isinstance(row, dict):
        raise RowError("it is not a JSON object")
    try:
        schema.model_validate(row)
    except ValidationError as problem:
        first_error = problem.errors(include_url=False)[0]
        raise RowError(_error_text(row, first_error)) from None


def _error_text(row: Mapping[str, Any], error: ErrorDetails) -> str:
    """What is wrong with a row, and where."""
    path = ""
    value: Any = row
    for part in error["loc"]:
        if isinstance(part, int):
            path = f"{path}[{part}]"
            value = value[part]
        elif isinstance(value, dict):
            path = f"{path}.{part}"
            value = value.get(part)
        # Otherwise the part is not a place: it names one of several types that were tried.
    kind = error["type"]
    if kind == "list_type" and path.endswith("]"):
        return f"{path.partition('[')[0][1:80]} is not a table of numbers"
    name = path[1:80]
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"{name} is unknown"
    if kind == "too_short" and not value:
        return f"{name} is empty"
    return f"{name} cannot be {reprlib.repr(value)}"


def _check_score_tables(row: Mapping[str, Any]) -> None:
    """Check that the scores of a row are tables that fit each other."""
    n_scorers, n_candidates, n_samples = number_array(row["scores"], "scores").shape
    if n_scorers != len(row["scorers"]):
        raise RowError(f"scores is of {n_scorers} scorers, and scorers names {len(row['scorers'])}")
    if "raters" in row and len(row["raters"]) != n_samples:
        raise RowError(f"scores is of {n_samples} raters, and raters names {len(row['raters'])}")
    if "grades" in row:
        n_criteria = max(1, len(row.get("criteria", ())))
        grades_shape = number_array(row["grades"], "grades").shape
        if grades_shape[:3] != (n_criteria, n_candidates, n_samples):
            raise RowError("grades is not criteria x candidates x raters x repeats")
    for candidate, rater in row.get("missing", ()):
        if candidate >= n_candidates or rater >= n_samples:
            raise RowError("missing is not a list of candidates and raters")
