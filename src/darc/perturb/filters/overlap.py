"""The content words must be the same up to known equals."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from darc.perturb.filters.reading import Reading, apart
from darc.perturb.filters.stretches import Stretch
from darc.perturb.lexicon.senses import same

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
            return f"added: {_listed(found)}"
    return None


def omissions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the rewrite, or what it made of one sentence, says less than the original, or None."""
    found = overlap(original, rewrite)
    if len(found.dropped) > MOST_DROPPED[family] * found.before:
        return f"dropped: {_listed(found.dropped)}"
    dropped = frozenset(found.dropped)
    for sentence in original.sentences if dropped else ():
        gone = tuple(word for word in sentence if word in dropped)
        if len(gone) > 1 and len(gone) > MOST_DROPPED_OF_A_SENTENCE[family] * len(sentence):
            return f"dropped: {_listed(gone)}"
    return None


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")
