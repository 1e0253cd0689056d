"""Which words and phrases count as one: built once from the tables."""

from collections.abc import Iterator
from functools import cache

from darc.language.phrases import read_rows
from darc.language.words import LIGHT_WORDS, forms, plural, stem

Words = tuple[str, ...]
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
_VERBS = (*WORDINGS["verb"], *WORDINGS["transitive"])


@cache
def _pairs() -> tuple[Pair, ...]:
    """Equals; an everyday phrase is told by its one content word on either side, if it has one."""
    critical = {member for _, _, members in _CRITICAL for member in members}
    found = [*WORDINGS["both"], *WORDINGS["one way"]]
    for pair in (*WORDINGS["phrase"], *WORDINGS["attributive"]):
        first, second = ([w for w in side.split() if w not in LIGHT_WORDS] for side in pair)
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
    neutral = [group for group in _GROUPS if group[0] == "neutral"]
    for kind, group, members in (*neutral, *_CRITICAL):
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
    lines = [[_key(word) for word in group] for group in _RELATED]
    lines += [[_key(first), _key(second)] for first, second in _pairs()]
    lines += [[_key(form) for form in (*forms(first), *forms(second))] for first, second in _VERBS]
    lines += [
        [_key(form) for noun in pair for form in (noun, plural(noun))] for pair in WORDINGS["noun"]
    ]
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
    empty = {wording for wording in _known_wordings() if LIGHT_WORDS.issuperset(wording.split())}
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
    for group in _RELATED:
        for word in group:
            if " " in word:
                yield from forms(word)
