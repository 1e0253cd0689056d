"""The filter of swapped roles, such as "the cat chased the dog" for "the dog chased the cat"."""

from functools import lru_cache
from itertools import combinations, pairwise
from typing import NamedTuple

from darc.language.data_files import word_set
from darc.language.inflection import stem
from darc.language.reading import Reading, Stretch
from darc.parts.rewriters.differences import unshared_stretches, unshared_words

# How many neighbours count on either side of a word.
_REACH = 3
# By how much the similarities to the other word's neighbours must exceed those to the own ones.
_MARGIN = 0.4
_UNCHANGED = 0.99
_MAX_MOVED_WORDS = 40
_SENTENCE_ENDS = frozenset(".!?\n;:")
_SKIPPED = word_set("a an the , this that these those and or \u2013 \u2014")
_PREPOSITIONS = word_set("from to by of than with for against into before after over under")
_LIST_SEPARATORS = word_set(", and or")


class _Neighbours(NamedTuple):
    """The neighbours of a word by their weights; those before the word begin with "<"."""

    weights: dict[str, int]
    total: int


def refuse_swapped_roles(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Reject a rewrite in which two words changed places.

    Two words are swapped if each has clearly more of the other's neighbours than of its own. Only
    words that occur once in both texts are compared. A passive turns its sentence round, so nothing
    is said if the number of "by" differs.
    """
    words_before, words_after = unshared_words(original, rewrite)
    if words_before["by"] != words_after["by"]:
        return None
    # Words in stretches that both texts have keep their neighbours.
    compared = {
        word for word in words_before if words_after.get(word) == 1 and original.words[word] == 1
    }
    stretches_before, stretches_after = unshared_stretches(original, rewrite)
    before = _neighbours_of_words(stretches_before, compared)
    after = _neighbours_of_words(stretches_after, compared)
    own_similarity = {word: _similarity(before[word], after[word]) for word in before}
    moved = [word for word in before if own_similarity[word] < _UNCHANGED]
    if len(moved) > _MAX_MOVED_WORDS:
        return None
    for first, second in combinations(moved, 2):
        threshold = own_similarity[first] + own_similarity[second] + _MARGIN
        if threshold >= 2:
            continue
        crossed = _similarity(before[first], after[second])
        crossed += _similarity(before[second], after[first])
        if crossed > threshold and not _are_items_of_a_list(original, first, second):
            return f"roles: {first!r} and {second!r} changed places"
    return None


def _neighbours_of_words(stretches: list[Stretch], words: set[str]) -> dict[str, _Neighbours]:
    return {
        word: _neighbours(stretch, position)
        for stretch in stretches
        for word, position in stretch.positions.items()
        if word in words
    }


@lru_cache(maxsize=512)
def _neighbours(stretch: Stretch, position: int) -> _Neighbours:
    """The neighbours of a word; cached, since every rewrite of an original asks for them."""
    keys = _neighbour_keys(stretch)
    weights: dict[str, int] = {}
    for prefix, keys_outwards in (
        ("<", reversed(keys[:position])),
        ("", iter(keys[position + 1 :])),
    ):
        distinct_before = len(weights)
        for key in keys_outwards:
            # The nearer a neighbour is, the more it tells.
            weight = _REACH - (len(weights) - distinct_before)
            if key is None or not weight:
                break
            if key:
                weights[prefix + key] = weights.get(prefix + key, 0) + weight
    return _Neighbours(weights, sum(weights.values()))


@lru_cache(maxsize=512)
def _neighbour_keys(stretch: Stretch) -> list[str | None]:
    """What each word counts as beside another: None ends the search, "" is skipped."""
    return [_neighbour_key(word) for word in stretch.words]


def _neighbour_key(word: str) -> str | None:
    if word in _SENTENCE_ENDS:
        return None
    if word in _SKIPPED:
        return ""
    if word in _PREPOSITIONS:
        return word
    return stem(word)


def _similarity(first: _Neighbours, second: _Neighbours) -> float:
    """The share of weights that two words have in common, 0 to 1."""
    shared = 0
    for word, weight in first.weights.items():
        if word in second.weights:
            shared += min(weight, second.weights[word])
    union = first.total + second.total - shared
    if not union:
        return 1.0
    return shared / union


def _are_items_of_a_list(reading: Reading, first: str, second: str) -> bool:
    """Whether both words are items of one plain list, whose order says nothing."""
    words = [word for stretch in reading.stretches for word in stretch.words]
    start, end = sorted((words.index(first), words.index(second)))
    is_separator = [word in _LIST_SEPARATORS for word in words[start + 1 : end]]
    if not is_separator or not is_separator[0] or not is_separator[-1]:
        return False
    return all(left or right for left, right in pairwise(is_separator))
