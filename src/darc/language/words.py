"""English words: lists, classes and their order, stems and forms, and which count as one."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from darc.language.phrases import DATA, patterns, read_lists, read_rows, word_set
from darc.typing import Array

WORD_LISTS = {name: word_set(words) for name, words in read_lists("words.tsv").items()}
# They carry grammar or colour and are not counted as content.
LIGHT_WORDS = WORD_LISTS["light"]
_FORMS = read_rows("forms.tsv")


def _forms(kind: str) -> dict[str, str]:
    return {word: forms for each, word, forms in _FORMS if each == kind}


NEGATED = _forms("negated")
PRONOUNS = _forms("pronouns")
CONTRACTIONS = {**NEGATED, **PRONOUNS, **_forms("is"), **_forms("would")}
_STEMS = {form: base for base, forms in _forms("stem").items() for form in forms.split()}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    word = _STEMS.get(word, word).replace("isation", "ization")
    word = word.replace("'s", "").rstrip("'")
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 4 and word.endswith(("sses", "xes", "zes", "ches", "shes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix, least in (("ying", 5), ("ing", 6), ("ied", 5), ("ed", 5), ("ly", 6), ("ness", 8)):
        if word.endswith(suffix) and len(word) >= least:
            word = word[: -len(suffix)] + ("y" if suffix[0] in "yi" and suffix != "ing" else "")
            break
    if word.endswith("ion") and len(word) > 7 and word[-4] in "st":
        word = word[:-3]
    elif word.endswith("ment") and len(word) > 8:
        word = word[:-4]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    word = word.replace("our", "or") if len(word) > 5 else word
    word = word.replace("ys", "yz") if word.startswith("analys") else word
    if word.endswith("is") and len(word) > 6:
        word = word[:-1] + "z"
    if len(word) > 3 and word.endswith(("e", "y")):
        word = word[:-1] + ("i" if word.endswith("y") else "")
    return word


_ENDING = re.compile(
    r"(?:ational|ations?|ingly|edly|ings?|ments?|ness|able|ible|ously|ers?|ies|ied|ed|es|ly|s|e|y)$"
)


@lru_cache(maxsize=1 << 16)
def loose_stem(word: str) -> str:
    """A word without its commonest ending; the scorers were calibrated with it."""
    bare = word.removesuffix("'s")
    cut = _ENDING.sub("", bare)
    if len(cut) < 3:
        return bare
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut


_VERBS = {verb: forms.split() for verb, forms in _forms("verb").items()}
_PLURALS = _forms("plural")


def forms(verb: str) -> tuple[str, str, str, str, str]:
    """Base, third person, past, participle and -ing form; a particle stays behind the verb."""
    head, space, particle = verb.partition(" ")
    tail = space + particle
    if head in _VERBS:
        past, participle, gerund = _VERBS[head]
    else:
        past = participle = head + "d" if head.endswith("e") else _softened(head) + "ed"
        silent = head.endswith("e") and not head.endswith("ee")
        gerund = (head[:-1] if silent else head) + "ing"
    return verb, _third(head) + tail, past + tail, participle + tail, gerund + tail


def plural(noun: str) -> str:
    """The plural of a noun."""
    head, space, last = noun.rpartition(" ")
    return head + space + _PLURALS.get(last, _third(last))


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")) or verb != _softened(verb):
        return _softened(verb) + "es"
    return verb + "s"


def _softened(word: str) -> str:
    """A word that ends in a consonant and "y" with an "i" for it, as before "-es" and "-ed"."""
    return word[:-1] + "i" if word.endswith("y") and word[-2] not in "aeiou" else word


_CLOSED = read_lists("classes.tsv")
# Words of a request that say what to do with its subject and not what the subject is.
_REQUEST_WORDS = word_set(_CLOSED.pop("request"))
CLASS_OF = {word: name for name, words in _CLOSED.items() for word in words.split()}
FUNCTION_WORDS = frozenset(
    word for word, name in CLASS_OF.items() if name not in ("verb", "past", "adjective")
)
_SHAPES = patterns("answers.toml", "shapes")
_OTHER = "noun"
CLASSES = sorted({*_CLOSED, *_SHAPES, _OTHER})
_NUMBER_OF = {name: number for number, name in enumerate(CLASSES)}


@lru_cache(maxsize=1 << 16)
def class_of(token: str) -> str:
    """The class of a word, number or mark in lower case. O(length)."""
    known = CLASS_OF.get(token)
    if known is not None:
        return known
    return next((name for name, shape in _SHAPES.items() if shape.search(token)), _OTHER)


def content_words(words: Iterable[str]) -> list[str]:
    """The distinct words that carry content, in order."""
    kept = (word for word in words if word not in FUNCTION_WORDS and len(word) > 2)
    return list(dict.fromkeys(kept))


def content_stems(words: Iterable[str]) -> set[str]:
    """Their loose stems."""
    return set(map(loose_stem, content_words(words)))


def subject_words(words: Iterable[str]) -> list[str]:
    """The distinct words that say what a request is about; all content words if none is left."""
    content = content_words(words)
    return [word for word in content if word not in _REQUEST_WORDS] or content


_SMOOTHING = 8.0
_LARGEST_LIFT = 1.0
_GAPS = (1, 2)
_PROSE_GAIN = 0.15
_PRIOR_TOKENS = 8


@cache
def gains() -> Array:
    """Log of how much likelier a class is after another than anywhere, (gaps, C, C).

    From counts in our own answers, drawn towards 0 where there are few; read once.
    """
    stored = json.loads((DATA / "order.json").read_text(encoding="utf-8"))
    if stored["classes"] != CLASSES:
        raise ValueError("order.json was made for other classes; run tests.parts.scorers.calibrate")
    return log_lift(np.array(stored["counts"], dtype=np.float64))


def log_lift(counts: Array) -> Array:
    """Smoothed log P(next | previous) / P(next) from counts (..., C, C), in their shape."""
    share = counts.sum(axis=-2, keepdims=True) + 0.5
    share = share / share.sum(axis=-1, keepdims=True)
    total = counts.sum(axis=-1, keepdims=True)
    conditional = (counts + _SMOOTHING * share) / (total + _SMOOTHING)
    # Counts of our few thousand words say little of how rare a rare pair is.
    return np.clip(np.log(conditional / share), -_LARGEST_LIFT, _LARGEST_LIFT)


def order_gain(tokens: Sequence[str]) -> float:
    """Mean log lift of neighbouring classes in one text; about 0.17 in prose, -0.1 when shuffled.

    Few tokens are drawn towards the value of prose, since they say little. O(tokens).
    """
    total, count = 0.0, 0
    for table, (before, after) in zip(gains(), neighbours(tokens), strict=True):
        lifts = table[before, after]
        total += float(lifts.sum()) / len(_GAPS)
        count = max(count, lifts.size)
    return (total + _PRIOR_TOKENS * _PROSE_GAIN) / (count + _PRIOR_TOKENS)


def neighbours(tokens: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The class numbers of the pairs of tokens at each distance, a stop at either end."""
    inner = ["stop", *map(class_of, tokens), "stop"]
    numbers = np.array([_NUMBER_OF[name] for name in inner], dtype=np.int64)
    return [(numbers[:-gap], numbers[gap:]) for gap in _GAPS]


Pair = tuple[str, str]
_ROWS = read_rows("wordings.tsv")
# What may stand for what, by the kind of exchange.
WORDINGS: dict[str, tuple[Pair, ...]] = {
    kind: tuple((wording, replacement) for each, wording, replacement in _ROWS if each == kind)
    for kind in dict.fromkeys(kind for kind, _, _ in _ROWS)
}
_GROUPS = [(kind, name, members.split("; ")) for kind, name, members in read_rows("groups.tsv")]
_CRITICAL = [group for group in _GROUPS if group[0] not in ("neutral", "related")]
_RELATED = [members for kind, _, members in _GROUPS if kind == "related"]
_EXCHANGED = (*WORDINGS["verb"], *WORDINGS["transitive"])


@cache
def _pairs() -> tuple[Pair, ...]:
    """Equals; an everyday phrase is told by its one content word on either side, if it has one."""
    critical = {member for _, _, members in _CRITICAL for member in members}
    found = [*WORDINGS["both"], *WORDINGS["one way"]]
    for pair in (*WORDINGS["phrase"], *WORDINGS["attributive"]):
        first, second = ([w for w in side.split() if w not in LIGHT_WORDS] for side in pair)
        if critical.isdisjoint((*pair, *first, *second)):
            found.append((first[0], second[0]) if len(first) == len(second) == 1 else pair)
    return tuple(found)


@cache
def phrases() -> dict[str, list[tuple[tuple[str, ...], str, str]]]:
    """(words, kind, group) of every known phrase by its first word, the longest first."""
    found: dict[tuple[str, ...], tuple[str, str]] = {}
    neutral = [group for group in _GROUPS if group[0] == "neutral"]
    for kind, group, members in (*neutral, *_CRITICAL):
        for member in members:
            found.setdefault(tuple(member.split()), (kind, group))
    for wording in _known_wordings():
        if " " in wording:
            found.setdefault(tuple(wording.split()), ("content", wording))
    index: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    for words, (kind, group) in sorted(found.items(), key=lambda item: -len(item[0])):
        index.setdefault(words[0], []).append((words, kind, group))
    return index


@cache
def senses() -> dict[str, frozenset[int]]:
    """The lines of equals that each stem or phrase stands in."""
    lines = [*_RELATED, *_pairs()]
    lines += [(*forms(first), *forms(second)) for first, second in _EXCHANGED]
    lines += [(*pair, *map(plural, pair)) for pair in WORDINGS["noun"]]
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for wording in line:
            key = wording if " " in wording else stem(wording)
            found.setdefault(key, set()).add(number)
    return {key: frozenset(numbers) for key, numbers in found.items()}


def same(first: str, second: str) -> bool:
    """Whether two content keys count as one."""
    table = senses()
    return first == second or not table.get(first, frozenset()).isdisjoint(table.get(second, ()))


@cache
def dispensable() -> frozenset[str]:
    """The phrases that have no content of their own, or stand for one that has none."""
    empty = {wording for wording in _known_wordings() if LIGHT_WORDS.issuperset(wording.split())}
    partners = {wording for pair in _pairs() if not empty.isdisjoint(pair) for wording in pair}
    return frozenset(empty | partners)


def _known_wordings() -> Iterator[str]:
    for pair in _pairs():
        yield from pair
    for pair in _EXCHANGED:
        for verb in pair:
            yield from forms(verb)
    for group in _RELATED:
        for word in group:
            if " " in word:
                yield from forms(word)
