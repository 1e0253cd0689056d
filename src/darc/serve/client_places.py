"""What is said of a choice, by the places of the answers in the client's own list."""

from collections.abc import Sequence
from typing import Any

from darc.engine.copies import MergedCandidates


def place_name(place: int) -> str:
    """Return what the explanation calls the answer at a place of the client's list."""
    return f"candidate {place}"


def to_client_places(darc: dict[str, Any], merged: MergedCandidates) -> dict[str, Any]:
    """Express a `darc` object by the places in the client's list of answers.

    Answers with the same text are one candidate, at the place of the first. So that indices and
    arrays fit the client's list, the places of copies have null scores, and the side inputs of the
    first. The explanation names the answers by `place_name`.

    Args:
        darc: The `darc` object by merged candidates.
        merged: How the client's answers were merged.

    Returns:
        The object by the client's answers; unchanged if none repeats another.
    """
    places = merged.places
    owners = merged.owners
    if len(places) == len(owners):
        return darc
    result = {
        **darc,
        "index": places[darc["index"]],
        "order": [places[index] for index in darc["order"]],
        "candidates": _without_ids(_at_places(darc["candidates"], places)),
    }
    if darc["best_of_k"] is not None:
        result["best_of_k"] = places[darc["best_of_k"]]
    if darc["people"] is not None:
        result["people"] = _people_at_places(darc["people"], places)
    if "panel" in darc:
        result["panel"] = _panel_at_places(darc["panel"], merged)
    if "texts" in darc:
        result["texts"] = _at_places(darc["texts"], places)
        result["scores"] = [_spread(rows, merged) for rows in darc["scores"]]
    if "grades" in darc:
        result["grades"] = [_spread(rows, merged) for rows in darc["grades"]]
    if "side" in darc:
        result["side"] = _side_of_owners(darc["side"], owners)
    return result


def _people_at_places(people: dict[str, Any], places: Sequence[int]) -> dict[str, Any]:
    return {
        **people,
        "chosen": places[people["chosen"]],
        "best_mean": places[people["best_mean"]],
        "answers": _at_places(people["answers"], places),
    }


def _panel_at_places(panel: dict[str, Any], merged: MergedCandidates) -> dict[str, Any]:
    return {
        **panel,
        "failed": [[merged.places[index], rater] for index, rater in panel["failed"]],
        "disagreement": _spread(panel["disagreement"], merged),
    }


def _side_of_owners(side: dict[str, list[Any]], owners: Sequence[int]) -> dict[str, list[Any]]:
    """Side inputs per answer: a copy has those of the candidate that it belongs to."""
    result = {name: [values[owner] for owner in owners] for name, values in side.items()}
    if "similarity" in result:
        result["similarity"] = [[row[owner] for owner in owners] for row in result["similarity"]]
    return result


def _at_places(rows: Sequence[dict[str, Any]], places: Sequence[int]) -> list[dict[str, Any]]:
    return [{**row, "index": places[row["index"]]} for row in rows]


def _without_ids(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "id": None} if "id" in row else row for row in rows]


def _spread(rows: Sequence[Any], merged: MergedCandidates) -> list[Any]:
    """Rows of merged candidates as rows of answers, with empty rows for copies."""
    row_of_place = dict(zip(merged.places, rows, strict=True))
    empty_row = _emptied(rows[0])
    return [row_of_place.get(place, empty_row) for place in range(len(merged.owners))]


def _emptied(row: Any) -> Any:
    """Lists of the same lengths with null in them."""
    if not isinstance(row, list):
        return None
    return [_emptied(item) for item in row]
