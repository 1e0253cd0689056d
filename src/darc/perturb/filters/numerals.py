"""Numbers and their units must stay."""

from collections import Counter

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading, apart
from darc.perturb.filters.stretches import Stretch


def numerals(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the numbers differ, or None; "3" and "three" are one, as are "%" and "percent"."""
    gone, come = apart(original, rewrite)
    return difference("number", _counts(gone), _counts(come))


def money(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the sums of money differ, or None; "$5" and "5 dollars" are one."""
    gone, come = apart(original, rewrite)
    return difference("sum of money", _sums(gone), _sums(come))


def _counts(stretches: list[Stretch]) -> Counter[str]:
    return Counter(
        f"{amount.value} {amount.unit}".strip() for each in stretches for amount in each.amounts
    )


def _sums(stretches: list[Stretch]) -> Counter[str]:
    return Counter(
        f"{amount.currency}{amount.value}"
        for each in stretches
        for amount in each.amounts
        if amount.currency
    )
