"""The filters that a rewrite must pass: what must stay, what may go, and why one is refused."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, combinations, pairwise
from typing import Any

from numpy.typing import ArrayLike

from darc.language.amounts import MONTHS, WEEKDAYS
from darc.language.data_files import word_set
from darc.language.inflection import stem
from darc.language.masking import mask
from darc.language.reading import Reading, Stretch
from darc.language.synonyms import same_sense
from darc.language.text import STRAIGHT_QUOTES
from darc.parts.rewriters.phrasing import STRIPS
from darc.parts.rewriters.transform import Draws, unheaded

Similarity = Callable[[Sequence[tuple[str, str]]], ArrayLike]
Entities = Callable[[str], Sequence[str]]
# Why a rewrite of a family is refused, or None; a reason opens with the filter's word and ":".
Filter = Callable[[Reading, Reading, str], str | None]

ORIGINAL = "duplicate: of the original"
ACCEPTED = "duplicate: of an accepted rewrite"
LEAST_SIMILARITY = 0.8
_LIMITS = {"style": (0.9, 1.1), "targeted": (0.35, 1.1)}
# In a text of less than twenty words a contraction or two are more than a tenth, so that this much
# may always change.
_SLACK_WORDS = 2
_SLACK_CHARACTERS = 12
# Tuned on the development half of the hand-made set; see tests/parts/rewriters/test_rewrites.py.
_MOST_ADDED = 0.06
_MOST_DROPPED = {"style": 0.15, "targeted": 0.25}
_MOST_DROPPED_OF_A_SENTENCE = {"style": 0.35, "targeted": 0.4}


def judge(
    original: str, rewrite: str, family: str = "style", find_entities: Entities | None = None
) -> str | None:
    """Why the rewrite is refused, or None if every filter lets it pass."""
    whole, new = _read(original), Reading(rewrite)
    found = (
        duplicate(original, rewrite)
        or length(whole, new, family)
        # A courtesy may go, but not one that says where to write to.
        or FILTERS["addresses"](whole, new, family)
    )
    if found:
        return found
    # A targeted rewrite may drop courtesies, so they are left out of both texts.
    if family == "targeted":
        whole, new = _read(lean(original)), Reading(lean(rewrite))
    for refuse in FILTERS.values():
        if found := refuse(whole, new, family):
            return found
    return entities(original, rewrite, find_entities) if find_entities else None


# Each of its rewrites asks for an original again.
_read = lru_cache(maxsize=16)(Reading)


@lru_cache(maxsize=8)
def lean(text: str) -> str:
    """The text without flattery, openers, apologies, closers, hedges and headings."""
    masked = mask(text)
    kept, draws = masked.text, Draws(0)
    for strip in STRIPS:
        kept = strip(kept, draws)
    return masked.restore(unheaded(kept))


@lru_cache(maxsize=32)
def normalised(text: str) -> str:
    """The text with one space for any white space."""
    return " ".join(text.split())


def duplicate(original: str, rewrite: str) -> str | None:
    """Why the rewrite is nothing new, or None; white space does not count."""
    return ORIGINAL if normalised(rewrite) == normalised(original) else None


def dissimilar(value: float, least: float = LEAST_SIMILARITY) -> str | None:
    """Why two texts of this similarity are too far apart, or None; NaN counts as apart."""
    return None if value >= least else f"similarity: {value:.2f}, below {least:g}"


def entities(original: str, rewrite: str, find: Entities) -> str | None:
    """Why the named entities that `find` sees differ, or None."""
    before, after = (Counter(map(str.casefold, find(text))) for text in (original, rewrite))
    return difference("entity", before, after)


def length(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the length is out of range, or None; words and characters must both be within it."""
    low, high = _LIMITS[family]
    counts = {
        "words": (original.size, rewrite.size, _SLACK_WORDS),
        "characters": (len(original.text), len(rewrite.text), _SLACK_CHARACTERS),
    }
    for unit, (had, has, slack) in counts.items():
        least, most = min(low * had, had - slack), max(high * had, had + slack)
        if not rewrite.size or not least <= has <= most:
            share = has / max(had, 1)
            return f"length: {share:.0%} of the {unit}, outside {low:.0%} to {high:.0%}"
    return None


def difference(what: str, before: "Counter[str]", after: "Counter[str]") -> str | None:
    """What a multiset lost and gained, or None if nothing."""
    if dict.__eq__(before, after):  # many times faster than that of counters
        return None
    parts = []
    for verb, items in (("lost", before - after), ("gained", after - before)):
        names = sorted(items)
        shown = [repr(name if len(name) < 40 else name[:37] + "...") for name in names[:3]]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        parts += [f"{verb} {', '.join(shown)}{more}"] if names else []
    return f"{what}: {', '.join(parts)}"


@lru_cache(maxsize=4)
def apart(original: Reading, rewrite: Reading) -> tuple[list[Stretch], list[Stretch]]:
    """The stretches that only the original has, and those that only the rewrite has, in order.

    A stretch that both have counts as often in either, so that filters that compare counts need
    not look at it.
    """
    sides: list[list[Stretch]] = []
    for reading, other in ((original, rewrite), (rewrite, original)):
        left = Counter(stretch.text for stretch in other.stretches)
        sides.append([])
        for stretch in reading.stretches:
            if left.get(stretch.text, 0):
                left[stretch.text] -= 1
            else:
                sides[-1].append(stretch)
    return sides[0], sides[1]


def _of_texts(what: str, found: Callable[[Reading], Iterable[str]]) -> Filter:
    """A filter of what is found in a text, which must all be there as often as before."""
    counted = lru_cache(maxsize=8)(lambda reading: Counter(found(reading)))
    return lambda original, rewrite, family: difference(what, counted(original), counted(rewrite))


@lru_cache(maxsize=8)
def counts(original: Reading, rewrite: Reading, what: str) -> tuple[Counter[Any], Counter[Any]]:
    """The words, or facts, of the stretches that only the original has, and the rewrite."""
    gone, come = (
        Counter(chain.from_iterable(getattr(stretch, what) for stretch in side))
        for side in apart(original, rewrite)
    )
    return gone, come


def _of_facts(kind: str) -> Filter:
    """A filter of one kind of facts, which must all be there as often as before."""

    def changed(original: Reading, rewrite: Reading, family: str) -> str | None:
        both = counts(original, rewrite, "facts")
        if dict.__eq__(*both):
            return None
        before, after = (
            Counter({f[1]: n for f, n in each.items() if f[0] == kind}) for each in both
        )
        return difference(kind, before, after)

    return changed


_ADDRESS = re.compile(r"(?:https?|ftp)://|www\.|[\w.+-]+@[\w-]+\.\w")
_QUOTATION = re.compile(r"(?<!\w)\"([^\"\n]*)\"|“([^”\n]*)”|«([^»\n]*)»")
_MONTH = "|".join(sorted((name.capitalize() for name in MONTHS), key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<later>{_MONTH})\b\.?"
    rf"|\b(?P<month>{_MONTH})\b\.?(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:\d]))?"
)
_WEEKDAY = re.compile(r"\b(?:" + "|".join(name.capitalize() for name in WEEKDAYS) + r")(?=s?\b)")
# One of these is in the name of every month or weekday.
_PARTS = tuple({name.capitalize()[:3] for name in (*MONTHS, *WEEKDAYS)})
# Without a day these are mostly other words.
_DOUBTFUL = frozenset({"May", "March", "Mar", "Jan", "Dec", "Sep"})
_NO_NAMES = frozenset({"i", "ai", "ok", "tv"}).union(MONTHS, WEEKDAYS)


def _dates(reading: Reading) -> list[str]:
    """Days and months, so that "3 March" and "March 3rd" are one, and weekdays."""
    text = reading.prose
    found: list[str] = []
    if not any(part in text for part in _PARTS):
        return found
    for match in _DATE.finditer(text):
        name = match["later"] or match["month"]
        day = match["before"] or match["after"] or ""
        if day or name not in _DOUBTFUL:
            found.append(f"{MONTHS[name.lower()]:02}-{int(day or 0):02}")
    return found + [WEEKDAYS[match.group().lower()] for match in _WEEKDAY.finditer(text)]


def _quotations(reading: Reading) -> list[str]:
    """The quotations of two words or more, without the marks, whose form may change."""
    if not any(mark in reading.text for mark in '"“«'):
        return []
    found = ("".join(match.groups(default="")) for match in _QUOTATION.finditer(reading.text))
    inner = (normalised(quote.translate(STRAIGHT_QUOTES)).strip(" .,;:!?") for quote in found)
    return [quote for quote in inner if " " in quote]


def _names(original: Reading, rewrite: Reading, family: str) -> str | None:
    """A word is a name when it stands capitalised inside a sentence and nowhere in lower case.

    Its count is compared whatever its case, since a name may open a sentence.
    """
    known = (original.names | rewrite.names) - _NO_NAMES
    if not known:
        return None
    both = counts(original, rewrite, "words")
    before, after = (Counter({name: each[name] for name in known if name in each}) for each in both)
    return difference("name", before, after)


@lru_cache(maxsize=4)
def overlap(original: Reading, rewrite: Reading) -> tuple[tuple[str, ...], frozenset[str]]:
    """Content words that a rewrite dropped and added, matched by themselves, then by equals."""
    before, after = (
        Counter(word for each in side for keys in each.sentences for word in keys)
        for side in apart(original, rewrite)
    )
    dropped = sorted((before - after).elements())
    added: set[str] = set()
    for word in sorted((after - before).elements()):
        partner = next((other for other in dropped if same_sense(word, other)), None)
        if partner is not None:
            dropped.remove(partner)
        elif not original.means(word):
            added.add(word)
    # A word said twice may be said once.
    return tuple(word for word in dropped if not rewrite.means(word)), frozenset(added)


def _additions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Sentences are judged one by one: a long text would hide a changed word in the average."""
    _, added = overlap(original, rewrite)
    for sentence in rewrite.sentences if added else ():
        found = [word for word in sentence if word in added]
        if len(found) > int(_MOST_ADDED * len(sentence)):
            return f"added: {_listed(found)}"
    return None


def _omissions(original: Reading, rewrite: Reading, family: str) -> str | None:
    """What the whole lost counts, and what was made of each sentence."""
    dropped, _ = overlap(original, rewrite)
    if len(dropped) > _MOST_DROPPED[family] * len(original.content):
        return f"dropped: {_listed(dropped)}"
    for sentence in original.sentences if dropped else ():
        gone = [word for word in sentence if word in dropped]
        if len(gone) > 1 and len(gone) > _MOST_DROPPED_OF_A_SENTENCE[family] * len(sentence):
            return f"dropped: {_listed(gone)}"
    return None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:4]) + (f" and {len(words) - 4} more" if len(words) > 4 else "")


_REACH = 3
_MARGIN = 0.4
_SAME = 0.99
_MOST_CHANGED = 40
_BARRIERS = frozenset(".!?\n;:")
_SKIPPED = word_set("a an the , this that these those and or \u2013 \u2014")
_PLACED = word_set("from to by of than with for against into before after over under")
_SEPARATORS = word_set(", and or")

# The words on either side, those before under "<" and the word, each by how near it is; their sum.
Near = tuple[dict[str, int], int]


def _roles(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Two words are swapped when each has clearly more of the other's neighbours than of its own.

    Each that occurs once in both texts is known by its neighbours on either side. A passive turns
    its sentence round, so nothing is said where the number of "by" differs.
    """
    left, new = counts(original, rewrite, "words")
    if left["by"] != new["by"]:
        return None
    # What stands in a stretch that both texts have has the same neighbours in both.
    both = {word for word in left if new.get(word) == 1 and original.words[word] == 1}
    before, after = (
        {
            word: _near(each, at)
            for each in side
            for word, at in each.positions.items()
            if word in both
        }
        for side in apart(original, rewrite)
    )
    own = {word: _alike(before[word], after[word]) for word in before}
    moved = [word for word in before if own[word] < _SAME]
    if len(moved) > _MOST_CHANGED:
        return None
    for first, second in combinations(moved, 2):
        least = own[first] + own[second] + _MARGIN
        if least >= 2:
            continue
        crossed = _alike(before[first], after[second]) + _alike(before[second], after[first])
        if crossed > least and not _in_list(original, first, second):
            return f"roles: {first!r} and {second!r} changed places"
    return None


@lru_cache(maxsize=512)
def _near(stretch: Stretch, at: int) -> Near:
    """The neighbours of a word; an original's are asked for with each of its rewrites."""
    near: dict[str, int] = {}
    keys = _keys(stretch)
    for side, order in (("<", reversed(keys[:at])), ("", iter(keys[at + 1 :]))):
        distinct = len(near)
        for key in order:
            reach = _REACH - (len(near) - distinct)
            if key is None or not reach:
                break
            if key:
                # The nearer, the more telling.
                near[side + key] = near.get(side + key, 0) + reach
    return near, sum(near.values())


@lru_cache(maxsize=512)
def _keys(stretch: Stretch) -> list[str | None]:
    """What each word counts as beside another: None ends the search, nothing is passed over."""
    return [
        None if w in _BARRIERS else "" if w in _SKIPPED else w if w in _PLACED else stem(w)
        for w in stretch.words
    ]


def _alike(first: Near, second: Near) -> float:
    (words, number), (others, other_number) = first, second
    shared = sum(min(count, others[word]) for word, count in words.items() if word in others)
    either = number + other_number - shared
    return shared / either if either else 1.0


def _in_list(reading: Reading, first: str, second: str) -> bool:
    """Whether both are items of one plain list, whose order says nothing."""
    words = [word for stretch in reading.stretches for word in stretch.words]
    start, end = sorted((words.index(first), words.index(second)))
    gap = [word in _SEPARATORS for word in words[start + 1 : end]]
    return bool(gap) and gap[0] and gap[-1] and all(a or b for a, b in pairwise(gap))


# In the order in which they are asked.
FILTERS: dict[str, Filter] = {
    "code": _of_texts("code", lambda r: (s.strip() for s in r.opaque if not _ADDRESS.match(s))),
    "addresses": _of_texts("address", lambda r: (s for s in r.opaque if _ADDRESS.match(s))),
    "numerals": _of_facts("number"),
    "money": _of_facts("sum of money"),
    "dates": _of_texts("date", _dates),
    "negations": _of_facts("negation"),
    "names": _names,
    "quotations": _of_texts("quotation", _quotations),
    "conditions": _of_facts("condition"),
    "quantities": _of_facts("quantity"),
    "comparisons": _of_facts("comparison"),
    "additions": _additions,
    "omissions": _omissions,
    "roles": _roles,
}
