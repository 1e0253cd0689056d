"""What differs between the readings of an original and of its rewrite."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import Any

from darc.language.reading import Reading, Stretch

# Why a rewrite of a family is rejected, or None: a function of the original, the rewrite and the
# family. A reason begins with the filter's word and ":".
Filter = Callable[[Reading, Reading, str], str | None]

_MAX_NAMES = 3
_MAX_NAME_CHARACTERS = 40


def describe_difference(what: str, before: "Counter[str]", after: "Counter[str]") -> str | None:
    """Say what a rewrite lost and gained.

    Args:
        what: What is counted, such as "number".
        before: The counts in the original.
        after: The counts in the rewrite.

    Returns:
        One line, or None if the counts are equal.
    """
    # The comparison of plain dicts is many times as fast as that of counters.
    if dict.__eq__(before, after):
        return None
    parts = []
    lost = sorted(before - after)
    gained = sorted(after - before)
    if lost:
        parts.append(f"lost {_list_names(lost)}")
    if gained:
        parts.append(f"gained {_list_names(gained)}")
    return f"{what}: {', '.join(parts)}"


def _list_names(names: list[str]) -> str:
    listed = ", ".join(repr(_shorten(name)) for name in names[:_MAX_NAMES])
    if len(names) > _MAX_NAMES:
        return f"{listed} and {len(names) - _MAX_NAMES} more"
    return listed


def _shorten(name: str) -> str:
    if len(name) < _MAX_NAME_CHARACTERS:
        return name
    return name[: _MAX_NAME_CHARACTERS - 3] + "..."


@lru_cache(maxsize=4)
def unshared_stretches(original: Reading, rewrite: Reading) -> tuple[list[Stretch], list[Stretch]]:
    """Find the stretches that only one of two texts has.

    A stretch that both texts have counts equally in both, so that filters that compare counts need
    not look at it.

    Args:
        original: The original.
        rewrite: The rewrite.

    Returns:
        The stretches that only the original has, and those that only the rewrite has, in order.
    """
    return _stretches_without(original, rewrite), _stretches_without(rewrite, original)


def _stretches_without(reading: Reading, other: Reading) -> list[Stretch]:
    """The stretches of a reading that another lacks, each as often as it is missing."""
    remaining = Counter(stretch.text for stretch in other.stretches)
    unshared: list[Stretch] = []
    for stretch in reading.stretches:
        if remaining.get(stretch.text, 0):
            remaining[stretch.text] -= 1
        else:
            unshared.append(stretch)
    return unshared


@lru_cache(maxsize=4)
def unshared_words(original: Reading, rewrite: Reading) -> tuple[Counter[str], Counter[str]]:
    """Count the words of the stretches that only the original and only the rewrite have."""
    before, after = unshared_stretches(original, rewrite)
    return _count_all([stretch.words for stretch in before]), _count_all(
        [stretch.words for stretch in after]
    )


@lru_cache(maxsize=4)
def unshared_facts(
    original: Reading, rewrite: Reading
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Count the facts of the stretches that only the original and only the rewrite have."""
    before, after = unshared_stretches(original, rewrite)
    return _count_all([stretch.facts for stretch in before]), _count_all(
        [stretch.facts for stretch in after]
    )


def _count_all(lists: list[list[Any]]) -> Counter[Any]:
    return Counter(chain.from_iterable(lists))
