"""Numbers and their units must stay."""

from collections import Counter

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading


def numerals(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the numbers differ, or None; "3" and "three" are one, as are "%" and "percent"."""
    return difference("number", _counts(original), _counts(rewrite))


def money(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the sums of money differ, or None; "$5" and "5 dollars" are one."""
    return difference("sum of money", _sums(original), _sums(rewrite))


def _counts(reading: Reading) -> Counter[str]:
    return Counter(f"{amount.value} {amount.unit}".strip() for amount in reading.amounts)


def _sums(reading: Reading) -> Counter[str]:
    return Counter(
        f"{amount.currency}{amount.value}" for amount in reading.amounts if amount.currency
    )
