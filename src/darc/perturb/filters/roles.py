"""Words must keep their places: who does what to whom, and which number is whose."""

from collections import Counter
from itertools import pairwise

from darc.perturb.filters.reading import Reading
from darc.perturb.lexicon.function_words import FUNCTION_WORDS
from darc.perturb.lexicon.stems import stem

_REACH = 3
_MARGIN = 0.4
_BARRIERS = frozenset(".!?\n;:")
_SKIPPED_WORDS = "a an the , this that these those and or \u2013 \u2014"
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_PLACED_WORDS = "from to by of than with for against into before after over under"
_PLACED = frozenset(_PLACED_WORDS.split())
_MOST_CHANGED = 40

_SEPARATORS = frozenset({",", "and", "or"})

Near = tuple[Counter[str], Counter[str]]
Places = dict[str, Near]


def roles(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why two words seem to have changed places, or None.

    Each word that occurs once in both texts is known by its neighbours on either side. Two words
    are swapped when each has clearly more of the other's neighbours than of its own. A passive
    turns its sentence round, so nothing is said where the number of "by" differs.
    """
    if original.words["by"] != rewrite.words["by"]:
        return None
    before, after = _places(original), _places(rewrite)
    moved = [word for word in before if word in after and _alike(before[word], after[word]) < 0.99]
    if len(moved) > _MOST_CHANGED:
        return None
    for i, first in enumerate(moved):
        for second in moved[i + 1 :]:
            own = _alike(before[first], after[first]) + _alike(before[second], after[second])
            crossed = _alike(before[first], after[second]) + _alike(before[second], after[first])
            if crossed > own + _MARGIN and not _listed(original, first, second):
                return f"roles: {first!r} and {second!r} changed places"
    return None


def _places(reading: Reading) -> Places:
    words = [token.word for token in reading.tokens]
    found: Places = {}
    for at, word in enumerate(words):
        if reading.words[word] > 1 or word in FUNCTION_WORDS or not word[0].isalnum():
            continue
        found[word] = (
            _neighbours(words, range(at - 1, -1, -1)),
            _neighbours(words, range(at + 1, len(words))),
        )
    return found


def _neighbours(words: list[str], order: range) -> Counter[str]:
    near: Counter[str] = Counter()
    for at in order:
        word = words[at]
        if word in _BARRIERS or len(near) == _REACH:
            break
        if word not in _SKIPPED:
            # The nearer, the more telling.
            near[word if word in _PLACED else stem(word)] += _REACH - len(near)
    return near


def _alike(first: Near, second: Near) -> float:
    shared = sum((a & b).total() for a, b in zip(first, second, strict=True))
    either = sum((a | b).total() for a, b in zip(first, second, strict=True))
    return shared / either if either else 1.0


def _listed(reading: Reading, first: str, second: str) -> bool:
    """Whether both are items of one plain list, whose order says nothing."""
    words = [token.word for token in reading.tokens]
    start, end = sorted((words.index(first), words.index(second)))
    gap = [word in _SEPARATORS for word in words[start + 1 : end]]
    items_alone = all(a or b for a, b in pairwise(gap))
    return bool(gap) and gap[0] and gap[-1] and items_alone
