"""Wordings that mean the same, and groups of phrases that no rewrite may exchange.

The tables are wordings.tsv (pairs of wordings by the kind of exchange) and groups.tsv (groups of
phrases: `neutral` ones carry no content, `related` ones count as one content word, and all other
kinds, such as negations and quantities, must be kept).
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from darc.language.data_files import read_rows
from darc.language.inflection import plural, stem, verb_forms
from darc.language.word_lists import LIGHT_WORDS

Pair = tuple[str, str]


class KnownPhrase(NamedTuple):
    """A phrase of the tables, with the group that it belongs to."""

    words: tuple[str, ...]
    #: "neutral", "content", or the kind of a group that must be kept.
    kind: str
    #: The name of its group; of content, the phrase itself.
    group: str


def _read_wordings() -> dict[str, tuple[Pair, ...]]:
    wordings: dict[str, tuple[Pair, ...]] = {}
    for kind, wording, replacement in read_rows("wordings.tsv"):
        wordings[kind] = (*wordings.get(kind, ()), (wording, replacement))
    return wordings


#: Pairs of a wording and its replacement, by the kind of exchange.
WORDINGS = _read_wordings()
_GROUPS = [(kind, name, members.split("; ")) for kind, name, members in read_rows("groups.tsv")]
_NEUTRAL_GROUPS = [group for group in _GROUPS if group[0] == "neutral"]
_CRITICAL_GROUPS = [group for group in _GROUPS if group[0] not in ("neutral", "related")]
_RELATED = [members for kind, _, members in _GROUPS if kind == "related"]
_VERB_PAIRS = (*WORDINGS["verb"], *WORDINGS["transitive"])


@cache
def known_phrases() -> dict[str, list[KnownPhrase]]:
    """Index every known phrase by its first word, the longest phrases first."""
    entries: dict[tuple[str, ...], tuple[str, str]] = {}
    for kind, group, members in (*_NEUTRAL_GROUPS, *_CRITICAL_GROUPS):
        for member in members:
            entries.setdefault(tuple(member.split()), (kind, group))
    for wording in _all_wordings():
        if " " in wording:
            entries.setdefault(tuple(wording.split()), ("content", wording))
    index: dict[str, list[KnownPhrase]] = {}
    for words, (kind, group) in sorted(entries.items(), key=lambda entry: -len(entry[0])):
        index.setdefault(words[0], []).append(KnownPhrase(words, kind, group))
    return index


@cache
def senses() -> dict[str, frozenset[int]]:
    """Number the lines of synonyms in which each stem or phrase stands."""
    lines: list[Sequence[str]] = [*_RELATED, *_content_pairs()]
    lines += [(*verb_forms(first), *verb_forms(second)) for first, second in _VERB_PAIRS]
    lines += [(*pair, *map(plural, pair)) for pair in WORDINGS["noun"]]
    numbers_of_key: dict[str, set[int]] = {}
    for number, line in enumerate(lines):
        for wording in line:
            numbers_of_key.setdefault(_content_key(wording), set()).add(number)
    return {key: frozenset(numbers) for key, numbers in numbers_of_key.items()}


def same_sense(first: str, second: str) -> bool:
    """Tell whether two content keys (stems or phrases) count as one."""
    if first == second:
        return True
    numbers = senses()
    return not numbers.get(first, frozenset()).isdisjoint(numbers.get(second, ()))


@cache
def empty_phrases() -> frozenset[str]:
    """Collect the phrases without content, and those that are synonyms of one without content."""
    empty = {wording for wording in _all_wordings() if LIGHT_WORDS.issuperset(wording.split())}
    synonyms = {
        wording for pair in _content_pairs() if not empty.isdisjoint(pair) for wording in pair
    }
    return frozenset(empty | synonyms)


@cache
def _content_pairs() -> tuple[Pair, ...]:
    """Pairs of wordings with the same content.

    A phrase is represented by its only content word if both sides of the pair have just one.
    """
    critical = {member for _, _, members in _CRITICAL_GROUPS for member in members}
    pairs = [*WORDINGS["both"], *WORDINGS["one way"]]
    for pair in (*WORDINGS["phrase"], *WORDINGS["attributive"]):
        first_content = _words_with_content(pair[0])
        second_content = _words_with_content(pair[1])
        if not critical.isdisjoint((*pair, *first_content, *second_content)):
            continue
        if len(first_content) == len(second_content) == 1:
            pairs.append((first_content[0], second_content[0]))
        else:
            pairs.append(pair)
    return tuple(pairs)


def _words_with_content(phrase: str) -> list[str]:
    return [word for word in phrase.split() if word not in LIGHT_WORDS]


def _content_key(wording: str) -> str:
    if " " in wording:
        return wording
    return stem(wording)


def _all_wordings() -> Iterator[str]:
    for pair in _content_pairs():
        yield from pair
    for pair in _VERB_PAIRS:
        for verb in pair:
            yield from verb_forms(verb)
    for group in _RELATED:
        for word in group:
            if " " in word:
                yield from verb_forms(word)
