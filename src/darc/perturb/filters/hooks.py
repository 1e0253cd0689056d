"""Checks that need a model, given by the caller: embedding similarity and named entities."""

from collections import Counter
from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from darc.perturb.filters.changes import difference

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
