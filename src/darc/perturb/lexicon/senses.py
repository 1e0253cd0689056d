"""Which words and phrases count as one: built once from the tables."""

from collections.abc import Iterator
from functools import cache

from darc.perturb.lexicon import everyday
from darc.perturb.lexicon.critical import COMPARISONS, CONDITIONS, NEGATIONS, NEUTRAL, QUANTITIES
from darc.perturb.lexicon.function_words import FUNCTION_WORDS
from darc.perturb.lexicon.inflections import forms, plural
from darc.perturb.lexicon.related import GROUPS
from darc.perturb.lexicon.stems import stem
from darc.perturb.lexicon.synonyms import BOTH, ONE_WAY, VERBS

Words = tuple[str, ...]
_LOOSE = (*everyday.PHRASES, *everyday.ATTRIBUTIVE)
_VERBS = (*VERBS, *everyday.TRANSITIVE)
_NOUNS = everyday.NOUNS
CRITICAL = {
    "negation": NEGATIONS,
    "condition": CONDITIONS,
    "quantity": QUANTITIES,
    "comparison": COMPARISONS,
}


@cache
def _pairs() -> tuple[tuple[str, str], ...]:
    """Equals; an everyday phrase is told by its one content word on either side, if it has one."""
    critical = {
        member for groups in CRITICAL.values() for members in groups.values() for member in members
    }
    found = [*BOTH, *ONE_WAY]
    for pair in _LOOSE:
        first, second = ([w for w in side.split() if w not in FUNCTION_WORDS] for side in pair)
        if not critical.isdisjoint((*pair, *first, *second)):
            continue
        if len(first) == len(second) == 1:
            found.append((first[0], second[0]))
        else:
            found.append(pair)
    return tuple(found)


@cache
def phrases() -> dict[str, list[tuple[Words, str, str]]]:
    """(words, kind, group) of every known phrase by its first word, the longest first."""
    found: dict[Words, tuple[str, str]] = {}
    for phrase in NEUTRAL:
        found[tuple(phrase.split())] = ("neutral", "")
    for kind, groups in CRITICAL.items():
        for group, members in groups.items():
            for member in members:
                found.setdefault(tuple(member.split()), (kind, group))
    for wording in _known_wordings():
        if " " in wording:
            found.setdefault(tuple(wording.split()), ("content", wording))
    index: dict[str, list[tuple[Words, str, str]]] = {}
    for words, (kind, group) in sorted(found.items(), key=lambda item: -len(item[0])):
        index.setdefault(words[0], []).append((words, kind, group))
    return index


@cache
def senses() -> dict[str, frozenset[int]]:
    """The lines of equals that each stem or phrase stands in."""
    lines = [[_key(word.replace("-", " ")) for word in group] for group in GROUPS]
    lines += [[_key(first), _key(second)] for first, second in _pairs()]
    lines += [[_key(form) for form in (*forms(first), *forms(second))] for first, second in _VERBS]
    lines += [[_key(form) for noun in pair for form in (noun, plural(noun))] for pair in _NOUNS]
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for key in line:
            found.setdefault(key, set()).add(number)
    return {key: frozenset(numbers) for key, numbers in found.items()}


def same(first: str, second: str) -> bool:
    """Whether two content keys count as one."""
    table = senses()
    return first == second or not table.get(first, frozenset()).isdisjoint(table.get(second, ()))


def dispensable(key: str) -> bool:
    """Whether a phrase has no content of its own, or stands for one that has none."""
    return key in _dispensable()


@cache
def _dispensable() -> frozenset[str]:
    empty = {wording for wording in _known_wordings() if FUNCTION_WORDS.issuperset(wording.split())}
    partners = {wording for pair in _pairs() if not empty.isdisjoint(pair) for wording in pair}
    return frozenset(empty | partners)


def _key(wording: str) -> str:
    return wording if " " in wording else stem(wording)


def _known_wordings() -> Iterator[str]:
    for pair in _pairs():
        yield from pair
    for first, second in _VERBS:
        yield from forms(first)
        yield from forms(second)
    for group in GROUPS:
        for word in group:
            if "-" in word:
                head, _, tail = word.partition("-")
                tail = tail.replace("-", " ")
                yield from forms(f"{head} {tail}")
