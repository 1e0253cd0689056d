"""The filters that a rewrite must pass, and the judge that asks them in turn."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from numpy.typing import ArrayLike

from darc.language.markdown import mask
from darc.perturb.filters import facts, words
from darc.perturb.filters.reading import Filter, Reading, difference
from darc.perturb.transforms import STRIPS
from darc.perturb.transforms.markdown import unheaded
from darc.perturb.transforms.transform import Draws

Similarity = Callable[[Sequence[tuple[str, str]]], ArrayLike]
Entities = Callable[[str], Sequence[str]]

LEAST_SIMILARITY = 0.8


def dissimilar(value: float, least: float = LEAST_SIMILARITY) -> str | None:
    """Why two texts of this similarity are too far apart, or None; NaN counts as apart."""
    return None if value >= least else f"similarity: {value:.2f}, below {least:g}"


def entities(original: str, rewrite: str, find: Entities) -> str | None:
    """Why the named entities that `find` sees differ, or None."""
    before, after = (Counter(map(str.casefold, find(text))) for text in (original, rewrite))
    return difference("entity", before, after)


ORIGINAL = "duplicate: of the original"
ACCEPTED = "duplicate: of an accepted rewrite"


def duplicate(original: str, rewrite: str) -> str | None:
    """Why the rewrite is nothing new, or None; white space does not count."""
    return ORIGINAL if normalised(rewrite) == normalised(original) else None


def normalised(text: str) -> str:
    """The text with one space for any white space."""
    return " ".join(text.split())


LIMITS = {"style": (0.9, 1.1), "targeted": (0.35, 1.1)}
# In a text of less than twenty words a contraction or two are more than a tenth, so that this much
# may always change.
_SLACK_WORDS = 2
_SLACK_CHARACTERS = 12


def length(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the length is out of range, or None; words and characters must both be within it."""
    low, high = LIMITS[family]
    counts = {
        "words": (original.length, rewrite.length, _SLACK_WORDS),
        "characters": (len(original.text), len(rewrite.text), _SLACK_CHARACTERS),
    }
    for unit, (before, after, slack) in counts.items():
        least, most = min(low * before, before - slack), max(high * before, before + slack)
        if not rewrite.text.strip() or not least <= after <= most:
            share = after / max(before, 1)
            return f"length: {share:.0%} of the {unit}, outside {low:.0%} to {high:.0%}"
    return None


def lean(text: str) -> str:
    """The text without flattery, openers, apologies, closers, hedges and headings."""
    masked = mask(text)
    kept, draws = masked.text, Draws(0)
    for strip in STRIPS:
        kept = strip.change(kept, draws)
    return masked.restore(unheaded(kept))


# In the order in which they are asked.
FILTERS: dict[str, Filter] = {
    "code": facts.code,
    "addresses": facts.addresses,
    "numerals": facts.numerals,
    "money": facts.money,
    "dates": facts.dates,
    "negations": facts.negations,
    "names": facts.names,
    "quotations": facts.quotations,
    "conditions": facts.conditions,
    "quantities": facts.quantities,
    "comparisons": facts.comparisons,
    "additions": words.additions,
    "omissions": words.omissions,
    "roles": words.roles,
}

__all__ = [
    "ACCEPTED",
    "FILTERS",
    "LEAST_SIMILARITY",
    "ORIGINAL",
    "Entities",
    "Filter",
    "Reading",
    "RewriteJudge",
    "Similarity",
    "dissimilar",
    "duplicate",
    "entities",
    "judge",
    "lean",
    "length",
    "normalised",
]


class RewriteJudge:
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
            or facts.addresses(self._whole, whole, self.family)
        )
        if found:
            return found
        said = _said(whole, self.family)
        for refuse in FILTERS.values():
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
    return RewriteJudge(original, family, find_entities).reason(rewrite)
