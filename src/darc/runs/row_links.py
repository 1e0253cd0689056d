"""Whether the rows of one prompt agree with each other and with the manifest."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from darc.runs.row_schemas import RowError, number_array
from darc.typing import Mask

_JsonObject = Mapping[str, Any]


def check_links(
    file_name: str,
    row: _JsonObject,
    earlier_rows: Mapping[str, _JsonObject],
    settings: _JsonObject,
) -> None:
    """Check that a row agrees with the rows that it was made from.

    Args:
        file_name: The file of the row.
        row: A row of the right form.
        earlier_rows: The same prompt's rows by file, of the files before this one.
        settings: The settings of the manifest.

    Raises:
        RowError: If it does not.
    """
    if "candidates.jsonl" not in earlier_rows:
        return
    n_candidates = len(earlier_rows["candidates.jsonl"]["candidates"])
    if file_name == "rejected.jsonl":
        _check_rewritten(row["rejected"], [], n_candidates)
    elif file_name == "variants.jsonl":
        _check_rewritten(row["variants"], row.get("rewritten", []), n_candidates)
        n_aug = int(settings["rewrites"]["n_aug"])
        if max(sample_counts(row, n_candidates)) > n_aug + 1:
            raise RowError(f"a candidate has more rewrites than n_aug in manifest.json, {n_aug}")
    elif file_name == "scores.jsonl" and "variants.jsonl" in earlier_rows:
        counts = sample_counts(earlier_rows["variants.jsonl"], n_candidates)
        _check_scores(row, counts, settings)
    elif file_name == "side.jsonl":
        _check_side_inputs(row, n_candidates)
    elif file_name == "decisions.jsonl":
        _check_decided_candidates(row["candidates"], n_candidates)


def sample_counts(variants_row: _JsonObject, n_candidates: int) -> list[int]:
    """How many samples each candidate has: itself and its rewrites."""
    counts = [1] * n_candidates
    for variant in variants_row["variants"]:
        counts[variant["candidate"]] += 1
    return counts


def _check_rewritten(
    rewrites: Sequence[_JsonObject], rewritten: Sequence[int], n_candidates: int
) -> None:
    candidates = [rewrite["candidate"] for rewrite in rewrites] + list(rewritten)
    if any(candidate >= n_candidates for candidate in candidates):
        last = max(candidates)
        raise RowError(f"it names candidate {last}, and candidates.jsonl has {n_candidates}")


def _check_decided_candidates(candidates: Sequence[_JsonObject], n_candidates: int) -> None:
    if any(candidate["index"] >= n_candidates for candidate in candidates):
        raise RowError(f"it has more candidates than candidates.jsonl, {n_candidates}")


def _check_side_inputs(row: _JsonObject, n_candidates: int) -> None:
    for name in sorted(row.keys() - {"prompt_id"}):
        shape = number_array(row[name], name).shape
        is_square = name != "similarity" or shape == (n_candidates, n_candidates)
        if shape[0] != n_candidates or not is_square:
            raise RowError(f"{name} is not of {n_candidates} candidates, as in candidates.jsonl")


def _check_scores(row: _JsonObject, counts: list[int], settings: _JsonObject) -> None:
    """Check scores against the manifest and the number of samples per candidate."""
    scorers = [scorer["name"] for scorer in settings["scorers"]]
    if row["scorers"] != scorers:
        raise RowError(f"its scorers are {row['scorers']}, and those of manifest.json {scorers}")
    raters = [rater["name"] for rater in settings.get("panel", {}).get("rater", ())]
    n_samples = len(raters) or int(settings["rewrites"]["n_aug"]) + 1
    scores = np.array(row["scores"], dtype=np.float64)
    expected_shape = (len(scorers), len(counts), n_samples)
    if scores.shape != expected_shape:
        raise RowError(f"scores is {scores.shape}, not {expected_shape} as the other files have it")
    is_scored = ~np.isnan(scores)
    if raters:
        _check_grades(row, is_scored, raters)
    else:
        _check_rewrite_scores(row, is_scored, counts, settings)


def _check_grades(row: _JsonObject, is_scored: Mask, raters: Sequence[str]) -> None:
    if row.get("raters") != raters:
        raise RowError(f"its raters are {row.get('raters')}, and those of manifest.json {raters}")
    is_known = is_scored.copy()
    for candidate, rater in row.get("missing", ()):
        is_known[0, candidate, rater] = True
    if not row.get("lazy") and not is_known.all():
        raise RowError("a grade is neither there nor missing")


def _check_rewrite_scores(
    row: _JsonObject, is_scored: Mask, counts: list[int], settings: _JsonObject
) -> None:
    n_samples = is_scored.shape[2]
    exists = np.arange(n_samples) < np.array(counts)[:, None]
    scored_without_text = (is_scored & ~exists).any()
    scorers_differ = (is_scored != is_scored[0]).any()
    if scored_without_text or scorers_differ or not is_scored.any():
        raise RowError("the samples that have scores are not those of variants.jsonl")
    include_original = settings["rewrites"].get("include_original", True)
    if not include_original and max(counts) > 1:
        exists[:, 0] = False
    if not row.get("lazy") and not is_scored[:, exists].all():
        raise RowError("a rewrite of variants.jsonl has no score")
