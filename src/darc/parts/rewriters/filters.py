"""The filters that a rewrite must pass."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from numpy.typing import ArrayLike

from darc.language.masking import mask
from darc.language.reading import Reading
from darc.parts.rewriters.content_filters import refuse_additions, refuse_omissions
from darc.parts.rewriters.differences import Filter, describe_difference
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.fact_filters import (
    find_addresses,
    find_code,
    find_dates,
    find_quotations,
    same_facts,
    same_names,
    same_numerals,
    same_texts,
)
from darc.parts.rewriters.layout import without_any_heading
from darc.parts.rewriters.phrasing import COURTESIES
from darc.parts.rewriters.role_filter import refuse_swapped_roles
from darc.settings.choices import Acceptance

# Computes the similarities of pairs of texts, (pairs,).
Similarity = Callable[[Sequence[tuple[str, str]]], ArrayLike]
# Finds the named entities of a text.
Entities = Callable[[str], Sequence[str]]

DUPLICATE_OF_ORIGINAL = "duplicate: of the original"
DUPLICATE_OF_ACCEPTED = "duplicate: of an accepted rewrite"
#: Rewrites that are less similar to the original are rejected, unless the caller says otherwise.
MIN_SIMILARITY = 0.8
# The smallest and the largest length of a rewrite, as shares of the original's.
_LENGTH_RANGES = {"style": (0.9, 1.1), "targeted": (0.35, 1.1)}
# In a text of less than twenty words, one or two contractions are more than a tenth, so that this
# much may always change.
_SLACK_WORDS = 2
_SLACK_CHARACTERS = 12
# The paper's range has no slack; a text of less than ten words may still change by one.
_SLACK_WORDS_OF_PAPER = 1

_refuse_other_addresses = same_texts("address", find_addresses)
#: The filters of the acceptance level "paper", in the order in which they are tried.
PAPER_FILTERS: dict[str, Filter] = {
    "addresses": _refuse_other_addresses,
    "numerals": same_numerals,
    "dates": same_texts("date", find_dates),
    "names": same_names,
}
#: Those of the level "strict".
FILTERS: dict[str, Filter] = {
    "code": same_texts("code", find_code),
    "addresses": _refuse_other_addresses,
    "numerals": same_facts("number"),
    "money": same_facts("sum of money"),
    "dates": same_texts("date", find_dates),
    "negations": same_facts("negation"),
    "names": same_names,
    "quotations": same_texts("quotation", find_quotations),
    "conditions": same_facts("condition"),
    "quantities": same_facts("quantity"),
    "comparisons": same_facts("comparison"),
    "additions": refuse_additions,
    "omissions": refuse_omissions,
    "roles": refuse_swapped_roles,
}


def rejection_reason(
    original: str,
    rewrite: str,
    family: str = "style",
    find_entities: Entities | None = None,
    acceptance: Acceptance = "strict",
) -> str | None:
    """Judge a rewrite.

    Args:
        original: The text that was rewritten.
        rewrite: The rewrite.
        family: The simple family of the rewrite, "style" or "targeted".
        find_entities: Finds the named entities of a text, which must be the same; None to leave
            that check out.
        acceptance: Which checks are made: "paper" (length, addresses, numerals, dates and names) or
            "strict".

    Returns:
        Why the rewrite is rejected, or None if every filter lets it pass.
    """
    if normalise_spaces(rewrite) == normalise_spaces(original):
        return DUPLICATE_OF_ORIGINAL
    before = _cached_reading(original)
    after = Reading(rewrite)
    if acceptance == "paper":
        reason = _paper_rejection(before, after, family)
        if reason is not None or find_entities is None:
            return reason
        return entity_rejection(original, rewrite, find_entities)
    reason = length_rejection(before, after, family)
    if reason is None:
        # A courtesy may go, but not one that says where to write to.
        reason = _refuse_other_addresses(before, after, family)
    if reason is not None:
        return reason
    # A targeted rewrite may drop courtesies, so they are left out of both texts.
    if family == "targeted":
        before = _cached_reading(without_courtesies(original))
        after = Reading(without_courtesies(rewrite))
    for refuse in FILTERS.values():
        reason = refuse(before, after, family)
        if reason is not None:
            return reason
    if find_entities is None:
        return None
    return entity_rejection(original, rewrite, find_entities)


def _paper_rejection(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Judge a rewrite by the paper's checks alone.

    The paper does not say in what length is measured. A paraphrase of a short text often has some
    words more or fewer and as many characters, so that one of the two in range is enough.
    """
    slack = _SLACK_WORDS_OF_PAPER
    reason = _size_rejection("words", original.size, rewrite.size, slack, family)
    characters_before = len(original.text)
    characters_after = len(rewrite.text)
    by_characters = _size_rejection("characters", characters_before, characters_after, 0, family)
    if reason is not None and by_characters is not None:
        return reason
    for refuse in PAPER_FILTERS.values():
        reason = refuse(original, rewrite, family)
        if reason is not None:
            return reason
    return None


# Every rewrite of an original asks for it again.
_cached_reading = lru_cache(maxsize=16)(Reading)


@lru_cache(maxsize=8)
def without_courtesies(text: str) -> str:
    """Remove flattery, openers, apologies, closers, hedges and headings from a text."""
    masked = mask(text)
    remaining = masked.text
    draws = Draws(0)
    for remove in COURTESIES:
        remaining = remove(remaining, draws)
    return masked.restore(without_any_heading(remaining))


@lru_cache(maxsize=32)
def normalise_spaces(text: str) -> str:
    """Put one space for any white space."""
    return " ".join(text.split())


def similarity_rejection(similarity: float, minimum: float = MIN_SIMILARITY) -> str | None:
    """Reject a rewrite whose similarity to the original is too low, or NaN."""
    if similarity >= minimum:
        return None
    return f"similarity: {similarity:.2f}, below {minimum:g}"


def entity_rejection(original: str, rewrite: str, find_entities: Entities) -> str | None:
    """Reject a rewrite with other named entities than the original's."""
    before = Counter(map(str.casefold, find_entities(original)))
    after = Counter(map(str.casefold, find_entities(rewrite)))
    return describe_difference("entity", before, after)


def length_rejection(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Reject a rewrite whose number of words or characters is out of range."""
    reason = _size_rejection("words", original.size, rewrite.size, _SLACK_WORDS, family)
    if reason is not None:
        return reason
    characters_before = len(original.text)
    characters_after = len(rewrite.text)
    return _size_rejection(
        "characters", characters_before, characters_after, _SLACK_CHARACTERS, family
    )


def _size_rejection(unit: str, before: int, after: int, slack: int, family: str) -> str | None:
    low, high = _LENGTH_RANGES[family]
    smallest = min(low * before, before - slack)
    largest = max(high * before, before + slack)
    if after and smallest <= after <= largest:
        return None
    share = after / max(before, 1)
    return f"length: {share:.0%} of the {unit}, outside {low:.0%} to {high:.0%}"
