"""Capitalised names and acronyms must stay."""

from collections import Counter

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading, apart
from darc.perturb.filters.stretches import Stretch
from darc.perturb.lexicon.numbers import MONTHS, WEEKDAYS

_NO_NAMES = frozenset({"i", "ai", "ok", "tv"}) | set(MONTHS) | set(WEEKDAYS)


def names(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the names differ, or None.

    A word is a name when it stands capitalised inside a sentence and nowhere in lower case, in
    either text; its count is compared whatever its case, since a name may open a sentence.
    """
    known = (original.names | rewrite.names) - _NO_NAMES
    gone, come = apart(original, rewrite)
    return difference("name", _count(gone, known), _count(come, known))


def _count(stretches: list[Stretch], known: frozenset[str]) -> Counter[str]:
    words = (word for stretch in stretches for word in stretch.words if word in known)
    return Counter(words) if known else Counter()
