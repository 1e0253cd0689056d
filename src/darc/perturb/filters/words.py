"""Content words must stay, and keep their places."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from darc.language.senses import same
from darc.language.words import LIGHT_WORDS, stem
from darc.perturb.filters.reading import Reading, Stretch, apart, total

# Tuned on the development half of the hand-made set; see tests/perturb/test_rewrites.py.
MOST_ADDED = 0.06
MOST_DROPPED = {"style": 0.15, "targeted": 0.25}
MOST_DROPPED_OF_A_SENTENCE = {"style": 0.35, "targeted": 0.4}


@dataclass(frozen=True)
class Overlap:
    """Content words that a rewrite dropped and added, and how many each text has."""

    dropped: tuple[str, ...]
    added: tuple[str, ...]
    before: int
    after: int


@lru_cache(maxsize=4)
def overlap(original: Reading, rewrite: Reading) -> Overlap:
    """How the content words of two texts match, first by themselves, then by known equals."""
    gone, come = apart(original, rewrite)
    before, after = _content(gone), _content(come)
    dropped = sorted((before - after).elements())
    added: list[str] = []
    for word in sorted((after - before).elements()):
        partner = next((other for other in dropped if same(word, other)), None)
        if partner is not None:
            dropped.remove(partner)
        elif not original.means(word):
            added.append(word)
    # A word said twice may be said once.
    dropped = [word for word in dropped if not rewrite.means(word)]
    return Overlap(tuple(dropped), tuple(added), len(original.content), len(rewrite.content))


def _content(stretches: list[Stretch]) -> Counter[str]:
    return Counter(word for each in stretches for keys in each.sentences for word in keys)


def additions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why a sentence of the rewrite says more than the original, or None.

    Sentences are judged one by one, since a long text would hide a changed word in the average.
    """
    added = frozenset(overlap(original, rewrite).added)
    for sentence in rewrite.sentences if added else ():
        found = tuple(word for word in sentence if word in added)
        if len(found) > int(MOST_ADDED * len(sentence)):
            return f"added: {_named(found)}"
    return None


def omissions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the rewrite, or what it made of one sentence, says less than the original, or None."""
    found = overlap(original, rewrite)
    if len(found.dropped) > MOST_DROPPED[family] * found.before:
        return f"dropped: {_named(found.dropped)}"
    dropped = frozenset(found.dropped)
    for sentence in original.sentences if dropped else ():
        gone = tuple(word for word in sentence if word in dropped)
        if len(gone) > 1 and len(gone) > MOST_DROPPED_OF_A_SENTENCE[family] * len(sentence):
            return f"dropped: {_named(gone)}"
    return None


def _named(words: tuple[str, ...]) -> str:
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")


_REACH = 3
_MARGIN = 0.4
_SAME = 0.99
_BARRIERS = frozenset(".!?\n;:")
_SKIPPED_WORDS = "a an the , this that these those and or \u2013 \u2014"
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_PLACED_WORDS = "from to by of than with for against into before after over under"
_PLACED = frozenset(_PLACED_WORDS.split())
_MOST_CHANGED = 40
_REMEMBERED = 512

_SEPARATORS = frozenset({",", "and", "or"})

# The words on either side, those before under "<" and the word, each by how near it is; their sum.
Near = tuple[dict[str, int], int]
Places = dict[str, Near]


def roles(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why two words seem to have changed places, or None.

    Each word that occurs once in both texts is known by its neighbours on either side. Two words
    are swapped when each has clearly more of the other's neighbours than of its own. A passive
    turns its sentence round, so nothing is said where the number of "by" differs.
    """
    gone, come = apart(original, rewrite)
    left, new = (total(stretch.counts for stretch in side) for side in (gone, come))
    if left["by"] != new["by"]:
        return None
    # What stands in a stretch that both texts have has the same neighbours in both.
    both = {word for word in left if new.get(word) == 1 and original.words[word] == 1}
    before, after = _places(gone, both), _places(come, both)
    own = {word: _alike(before[word], after[word]) for word in before}
    moved = [word for word in before if own[word] < _SAME]
    if len(moved) > _MOST_CHANGED:
        return None
    for i, first in enumerate(moved):
        for second in moved[i + 1 :]:
            least = own[first] + own[second] + _MARGIN
            if least >= 2:
                continue
            crossed = _alike(before[first], after[second]) + _alike(before[second], after[first])
            if crossed > least and not _listed(original, first, second):
                return f"roles: {first!r} and {second!r} changed places"
    return None


def _places(stretches: list[Stretch], known: set[str]) -> Places:
    found: Places = {}
    for stretch in stretches:
        for at, word in enumerate(stretch.words):
            if word in known and word not in LIGHT_WORDS and word[0].isalnum():
                found[word] = _near(stretch, at)
    return found


@lru_cache(maxsize=_REMEMBERED)
def _near(stretch: Stretch, at: int) -> Near:
    """The neighbours of a word; an original's are asked for with each of its rewrites."""
    near: dict[str, int] = {}
    keys = _keys(stretch)
    _add(near, "<", keys, range(at - 1, -1, -1))
    _add(near, "", keys, range(at + 1, len(keys)))
    return near, sum(near.values())


@lru_cache(maxsize=_REMEMBERED)
def _keys(stretch: Stretch) -> list[str | None]:
    """What each word counts as beside another: None ends the search, nothing is passed over."""
    return [
        None if w in _BARRIERS else "" if w in _SKIPPED else w if w in _PLACED else stem(w)
        for w in stretch.words
    ]


def _add(near: dict[str, int], side: str, keys: list[str | None], order: range) -> None:
    distinct = len(near)
    for at in order:
        key = keys[at]
        reach = _REACH - (len(near) - distinct)
        if key is None or not reach:
            break
        if key:
            # The nearer, the more telling.
            near[side + key] = near.get(side + key, 0) + reach


def _alike(first: Near, second: Near) -> float:
    (words, number), (others, other_number) = first, second
    shared = 0
    for word, count in words.items():
        if word in others:
            shared += min(count, others[word])
    either = number + other_number - shared
    return shared / either if either else 1.0


def _listed(reading: Reading, first: str, second: str) -> bool:
    """Whether both are items of one plain list, whose order says nothing."""
    words = [token.word for token in reading.tokens]
    start, end = sorted((words.index(first), words.index(second)))
    gap = [word in _SEPARATORS for word in words[start + 1 : end]]
    items_alone = all(a or b for a, b in pairwise(gap))
    return bool(gap) and gap[0] and gap[-1] and items_alone
