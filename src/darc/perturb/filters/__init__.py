"""The filters that a rewrite must pass, and the judge that asks them in turn."""

from collections.abc import Callable
from functools import lru_cache

from darc.perturb.filters.critical import comparisons, conditions, negations, quantities
from darc.perturb.filters.dates import dates
from darc.perturb.filters.duplicates import duplicate
from darc.perturb.filters.hooks import Entities, Similarity, dissimilar, entities
from darc.perturb.filters.lean import lean
from darc.perturb.filters.length import length
from darc.perturb.filters.names import names
from darc.perturb.filters.numerals import money, numerals
from darc.perturb.filters.overlap import additions, omissions
from darc.perturb.filters.reading import Reading
from darc.perturb.filters.roles import roles
from darc.perturb.filters.verbatim import addresses, code, quotations

Filter = Callable[[Reading, Reading, str], str | None]

FILTERS: tuple[Filter, ...] = (
    code,
    addresses,
    numerals,
    money,
    dates,
    negations,
    names,
    quotations,
    conditions,
    quantities,
    comparisons,
    additions,
    omissions,
    roles,
)

__all__ = [
    "FILTERS",
    "Entities",
    "Filter",
    "Judge",
    "Reading",
    "Similarity",
    "dissimilar",
    "duplicate",
    "judge",
]


class Judge:
    """Judges rewrites of one text, which is read only once."""

    def __init__(self, original: str, family: str, find_entities: Entities | None = None) -> None:
        self.original = original
        self.family = family
        self._find_entities = find_entities
        self._whole, self._said = _readings(original, family)

    def reason(self, rewrite: str) -> str | None:
        """Why the rewrite is refused, or None; a reason opens with the filter's word and ":"."""
        whole = Reading(rewrite)
        found = (
            duplicate(self.original, rewrite)
            or length(self._whole, whole, self.family)
            # A courtesy may go, but not one that says where to write to.
            or addresses(self._whole, whole, self.family)
        )
        if found:
            return found
        said = _said(whole, self.family)
        for refuse in FILTERS:
            found = refuse(self._said, said, self.family)
            if found:
                return found
        if self._find_entities is not None:
            return entities(self.original, rewrite, self._find_entities)
        return None


@lru_cache(maxsize=8)
def _readings(original: str, family: str) -> tuple[Reading, Reading]:
    """The whole of an original, and what it says; rounds and slices of work ask for it again."""
    whole = Reading(original)
    return whole, _said(whole, family)


def _said(whole: Reading, family: str) -> Reading:
    # A targeted rewrite may drop courtesies, so they are left out of both texts.
    return Reading(lean(whole.text)) if family == "targeted" else whole


def judge(
    original: str, rewrite: str, family: str = "style", find_entities: Entities | None = None
) -> str | None:
    """Why the rewrite is refused, or None if every filter lets it pass."""
    return Judge(original, family, find_entities).reason(rewrite)
