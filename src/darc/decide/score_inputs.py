"""The scores of one prompt as users hold them: arrays, dicts of lists, and data frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.field_names import RATING_COLUMNS


@dataclass(frozen=True)
class NamedScores:
    """Scores with the names that came with them, None where there are none."""

    scores: Any
    candidates: list[str] | None = None
    #: The raters of the samples, one list for all candidates.
    raters: list[str] | None = None


def read_scores(scores: Any) -> NamedScores:
    """Read a dict of lists or a data frame; anything else is left as it is.

    Args:
        scores: Ratings by the name of the candidate; or a frame of pandas or polars, either tidy
            (candidate_id, rater_id, rating) or with one row per candidate and one column per rater.

    Raises:
        InputError: A frame has several prompts.
    """
    if isinstance(scores, Mapping):
        names = [str(name) for name in scores]
        return NamedScores(_padded([list(row) for row in scores.values()]), names)
    if isinstance(scores, np.ndarray) or not hasattr(scores, "columns"):
        return NamedScores(scores)
    columns = {str(name): list(scores[name]) for name in scores.columns}
    roles = {role: _find(role, columns) for role in ("prompt_id", "candidate_id", "rater_id")}
    rating = _find("rating", columns)
    prompt = columns.pop(roles["prompt_id"], [])
    if len(set(prompt)) > 1:
        raise InputError(
            f"the frame has {len(set(prompt))} prompts", "select one, or use darc.read_ratings"
        )
    if roles["candidate_id"] and roles["rater_id"] and rating:
        return _tidy(columns[roles["candidate_id"]], columns[roles["rater_id"]], columns[rating])
    row_names = _row_names(scores)
    if roles["candidate_id"]:
        row_names = [str(name) for name in columns.pop(roles["candidate_id"])]
    raters = [name for name in columns if _is_numeric(columns[name])]
    rows = [[_number(columns[name][row]) for name in raters] for row in range(len(scores))]
    return NamedScores(_padded(rows), row_names, raters)


def _find(role: str, columns: Mapping[str, Any]) -> str:
    """The column that is called like a role, "" without one."""
    for name in columns:
        if name.strip().casefold().replace(" ", "_") in RATING_COLUMNS[role]:
            return name
    return ""


def _tidy(candidates: Sequence[Any], raters: Sequence[Any], ratings: Sequence[Any]) -> NamedScores:
    candidate_names = list(dict.fromkeys(map(str, candidates)))
    rater_names = list(dict.fromkeys(map(str, raters)))
    totals = np.zeros((len(candidate_names), len(rater_names)))
    counts = np.zeros_like(totals)
    for candidate, rater, rating in zip(candidates, raters, ratings, strict=True):
        value = _number(rating)
        if not np.isnan(value):
            place = (candidate_names.index(str(candidate)), rater_names.index(str(rater)))
            totals[place] += value
            counts[place] += 1
    # A rater's second rating of a candidate is a repeat: their mean is one rating.
    table = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
    return NamedScores(table, candidate_names, rater_names)


def _row_names(frame: Any) -> list[str] | None:
    """The names of a frame's rows, None where they are only numbered."""
    index = getattr(frame, "index", None)
    if index is None or type(index).__name__ == "RangeIndex":
        return None
    return [str(name) for name in index]


def _is_numeric(cells: Sequence[Any]) -> bool:
    try:
        return any(not np.isnan(_number(cell)) for cell in cells)
    except (TypeError, ValueError):
        return False


def _number(cell: Any) -> float:
    if cell is None or str(cell) in ("<NA>", "nan"):
        return float("nan")
    return float(cell)


def _padded(rows: Sequence[Sequence[Any]]) -> Any:
    """Rows of different lengths as an array, NaN where a row is shorter."""
    width = max((len(row) for row in rows), default=0)
    table = np.full((len(rows), width), np.nan)
    for number, row in enumerate(rows):
        table[number, : len(row)] = [_number(cell) for cell in row]
    return table
