"""Negations, conditions, quantities and comparisons must stay."""

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading, apart, total


def negations(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the negations differ, or None; "don't" and "do not" are one, "never" is another."""
    return _changed("negation", original, rewrite)


def conditions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the conditions and their limits (if, unless, only, until, ...) differ, or None."""
    return _changed("condition", original, rewrite)


def quantities(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the words for how much, how often and how surely differ, or None."""
    return _changed("quantity", original, rewrite)


def comparisons(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the comparisons and directions of change differ, or None."""
    return _changed("comparison", original, rewrite)


def _changed(kind: str, original: Reading, rewrite: Reading) -> str | None:
    before, after = (
        total(stretch.critical[kind] for stretch in side if kind in stretch.critical)
        for side in apart(original, rewrite)
    )
    return difference(kind, before, after)
