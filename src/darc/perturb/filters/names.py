"""Capitalised names and acronyms must stay."""

from collections import Counter

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading
from darc.perturb.lexicon.numbers import MONTHS, WEEKDAYS

_NO_NAMES = frozenset({"i", "ai", "ok", "tv"}) | set(MONTHS) | set(WEEKDAYS)


def names(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the names differ, or None.

    A word is a name when it stands capitalised inside a sentence and nowhere in lower case, in
    either text; its count is compared whatever its case, since a name may open a sentence.
    """
    known = _names(original) | _names(rewrite)
    return difference("name", _count(original, known), _count(rewrite, known))


def _names(reading: Reading) -> set[str]:
    lower = {token.word for token in reading.tokens if token.surface[:1].islower()}
    found = set()
    for token in reading.tokens:
        surface = token.surface
        acronym = len(surface) > 1 and surface.isupper() and surface.isalpha()
        if acronym or (surface[:1].isupper() and not token.initial and token.word not in lower):
            found.add(token.word)
    return found - _NO_NAMES


def _count(reading: Reading, known: set[str]) -> "Counter[str]":
    return Counter({name: reading.words[name] for name in known if reading.words[name]})
