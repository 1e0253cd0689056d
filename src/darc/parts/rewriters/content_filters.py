"""Filters of content words that a rewrite added or dropped."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from darc.language.reading import Reading, Stretch
from darc.language.synonyms import same_sense
from darc.parts.rewriters.differences import unshared_stretches

# Tuned on the development half of the hand-made set; see tests/parts/rewriters/test_rewrites.py.
_MAX_ADDED_SHARE = 0.06
_MAX_DROPPED_SHARE = {"style": 0.15, "targeted": 0.25}
_MAX_DROPPED_SHARE_OF_SENTENCE = {"style": 0.35, "targeted": 0.4}
_MAX_LISTED_WORDS = 4


class ContentChange(NamedTuple):
    """The content words that a rewrite changed, after synonyms are matched."""

    #: Words that the rewrite lacks, each as often as it is missing.
    dropped: tuple[str, ...]
    #: Words that are new in the rewrite.
    added: frozenset[str]


@lru_cache(maxsize=4)
def content_change(original: Reading, rewrite: Reading) -> ContentChange:
    """Find the content words that a rewrite dropped and added.

    Equal words are matched first, then synonyms.
    """
    stretches_before, stretches_after = unshared_stretches(original, rewrite)
    before = _count_content(stretches_before)
    after = _count_content(stretches_after)
    dropped = sorted((before - after).elements())
    added: set[str] = set()
    for word in sorted((after - before).elements()):
        partner = _first_synonym(word, dropped)
        if partner is not None:
            dropped.remove(partner)
        elif not original.means(word):
            added.add(word)
    # A word that is said twice may be said once.
    missing = tuple(word for word in dropped if not rewrite.means(word))
    return ContentChange(missing, frozenset(added))


def _count_content(stretches: Iterable[Stretch]) -> Counter[str]:
    return Counter(
        word for stretch in stretches for sentence in stretch.sentences for word in sentence
    )


def _first_synonym(word: str, words: Iterable[str]) -> str | None:
    for other in words:
        if same_sense(word, other):
            return other
    return None


def refuse_additions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Reject new content words.

    Sentences are judged one by one, because a long text would hide a changed word in the average.
    """
    added = content_change(original, rewrite).added
    if not added:
        return None
    for sentence in rewrite.sentences:
        new_words = [word for word in sentence if word in added]
        if len(new_words) > int(_MAX_ADDED_SHARE * len(sentence)):
            return f"added: {_list_words(new_words)}"
    return None


def refuse_omissions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Reject a loss of many content words, of the whole text or of one of its sentences."""
    dropped = content_change(original, rewrite).dropped
    if len(dropped) > _MAX_DROPPED_SHARE[family] * len(original.content):
        return f"dropped: {_list_words(dropped)}"
    if not dropped:
        return None
    max_share = _MAX_DROPPED_SHARE_OF_SENTENCE[family]
    for sentence in original.sentences:
        missing = [word for word in sentence if word in dropped]
        if len(missing) > 1 and len(missing) > max_share * len(sentence):
            return f"dropped: {_list_words(missing)}"
    return None


def _list_words(words: Sequence[str]) -> str:
    text = ", ".join(words[:_MAX_LISTED_WORDS])
    if len(words) > _MAX_LISTED_WORDS:
        text += f" and {len(words) - _MAX_LISTED_WORDS} more"
    return text
