"""Comparisons of numbers that several tables of the paper print about the same prompts."""

from collections.abc import Iterator
from typing import Any

from darc.analysis.paper_check import Check

# Outcomes of DARC-epsilon on all prompts and on the fifth on which people disagree most.
_OVERALL = "Overall"
_SUBSET = "High-Disagreement (Top 20%)"
# The same subset in the human table.
_HUMAN_SUBSET = "High-Disagreement"
_EPSILON = "DARC-epsilon"
# The numbers are rounded to 0.01 in the human table and to 0.001 in that of buckets.
_HUNDREDTH = 0.005
_THOUSANDTH = 0.0005
_TENTH = 0.05
# The table of error buckets has four digits, which is finer than what it is compared with.
_ERROR_COLUMNS = {"DeAL": 3, "RBoN": 4, _EPSILON: 5}
_BY_HUMAN_TABLE = "by the human table"
# The paper does not say whose disagreement makes the subset of the human table.
_BY_HUMAN_SUBSET = "by the human table's subset"


def cross_table_checks(cells: dict[str, Any], printed: dict[str, Any]) -> list[Check]:
    """Compare what two tables print about the same prompts and methods.

    Args:
        cells: The tables that have tradeoffs, and what is printed about latency.
        printed: The other tables, by name, block and row.

    Returns:
        The comparisons, those that hold included.
    """
    human = cells["tradeoffs"]["human table"]
    return [
        *_bucket_checks(printed["buckets"][""], human),
        *_scalarisation_checks(printed["scalarisation"], printed["buckets"][""], human),
        *_error_checks(printed["errors"][""], human[_OVERALL]),
        *_family_checks(printed, human[_OVERALL]),
        *_latency_checks(cells["latency"], cells["latency_text"]),
    ]


def _change(methods: dict[str, Any], method: str, place: int) -> float:
    """How far a method is from the base in a column of the human table."""
    return float(methods[method][place] - methods["Base"][place])


def _counts(text: str) -> dict[str, int]:
    """Wins, ties and losses that are printed as "11 / 80 / 9"."""
    numbers = [int(part) for part in text.split("/")]
    return dict(zip(("wins", "ties", "losses"), numbers, strict=True))


def _bucket_checks(buckets: dict[str, Any], human: dict[str, Any]) -> Iterator[Check]:
    """The changes of five equal buckets average to the change of the human table."""
    average = sum(change for change, _ in buckets.values()) / len(buckets)
    slack = _THOUSANDTH + 2 * _HUNDREDTH
    yield Check(
        "human table",
        f"Overall, {_EPSILON}",
        "mean change",
        _change(human[_OVERALL], _EPSILON, 0),
        average,
        slack,
        "by the buckets",
    )
    last_change, _ = buckets["Q5"]
    subset = _change(human[_HUMAN_SUBSET], _EPSILON, 0)
    yield Check("bucket table", "Q5", "mean change", last_change, subset, slack, _BY_HUMAN_SUBSET)


def _scalarisation_checks(
    blocks: dict[str, Any], buckets: dict[str, Any], human: dict[str, Any]
) -> Iterator[Check]:
    """Absolute ratings (S0) have the changes and counts of the human and the bucket table."""
    name = "scalarisation"
    human_blocks = {
        _OVERALL: (human[_OVERALL], _BY_HUMAN_TABLE),
        _SUBSET: (human[_HUMAN_SUBSET], _BY_HUMAN_SUBSET),
    }
    for block, (methods, source) in human_blocks.items():
        for method in ("DARC", _EPSILON):
            _, change, _ = blocks[block][f"{method} S0"]
            computed = _change(methods, method, 0)
            slack = _THOUSANDTH + 2 * _HUNDREDTH
            yield Check(
                name, f"{block}, {method} S0", "mean change", change, computed, slack, source
            )
    bucket_groups = {
        _OVERALL: (list(buckets), "by the buckets"),
        _SUBSET: (["Q5"], "by bucket Q5"),
    }
    for block, (group, source) in bucket_groups.items():
        cell = f"{block}, {_EPSILON} S0"
        counts_text, change, _ = blocks[block][f"{_EPSILON} S0"]
        average = sum(buckets[bucket][0] for bucket in group) / len(group)
        yield Check(name, cell, "mean change", change, average, 2 * _THOUSANDTH, source)
        for outcome, count in _counts(counts_text).items():
            total = sum(_counts(buckets[bucket][1])[outcome] for bucket in group)
            yield Check(name, cell, outcome, count, total, 0.0, source)


def _error_checks(errors: dict[str, Any], human: dict[str, Any]) -> Iterator[Check]:
    """The buckets of errors, weighted by their sizes, have the tradeoffs of the human table."""
    sizes = [row[0] for row in errors.values()]

    def weighted(column: int) -> float:
        total = sum(size * row[column] for size, row in zip(sizes, errors.values(), strict=True))
        return float(total / sum(sizes))

    name = "human table"
    source = "by the error buckets"
    base = float(human["Base"][2])
    yield Check(name, "Overall, Base", "tradeoff", base, weighted(2), _HUNDREDTH, source)
    for method, column in _ERROR_COLUMNS.items():
        yield Check(
            name,
            f"Overall, {method}",
            "change of the tradeoff",
            _change(human, method, 2),
            weighted(column),
            2 * _HUNDREDTH,
            source,
        )


def _family_checks(printed: dict[str, Any], human: dict[str, Any]) -> Iterator[Check]:
    """The family `style` is that of the human table and of the table of proxy validity."""
    rows = {"Base": "Base", f"{_EPSILON} + style": _EPSILON}
    quantities = ("mean", "risk", "tradeoff")
    for row, method in rows.items():
        downstream = printed["family_downstream"][""][row][: len(quantities)]
        for quantity, cell, repeated in zip(quantities, downstream, human[method], strict=True):
            yield Check("families", row, quantity, cell, repeated, 0.0, _BY_HUMAN_TABLE)
    validity = printed["validity"][""]
    alignment = printed["family_alignment"][""]["style"]
    for place, quantity in enumerate(("Spearman", "partial Spearman", "Jaccard@20%")):
        yield Check(
            "families",
            "style",
            quantity,
            alignment[place],
            validity[quantity][0],
            0.0,
            "by the table of proxy validity",
        )


def _latency_checks(latency: dict[str, Any], text: dict[str, float]) -> Iterator[Check]:
    """The text rounds the increases of the latency table to 0.1."""
    for rewrites, rounded in text.items():
        _, printed = latency[rewrites]
        yield Check(
            "latency",
            f"N_aug {rewrites}",
            "increase in %",
            printed,
            rounded,
            _TENTH,
            "in the text",
        )
