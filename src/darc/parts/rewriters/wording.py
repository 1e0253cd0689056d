"""Words exchanged for others that mean the same, and contractions written out or made."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from darc.language.data_files import read_patterns, read_rows, word_set
from darc.language.inflection import plural, verb_forms
from darc.language.statements import CACHED_SENTENCES, pieces
from darc.language.synonyms import WORDINGS
from darc.language.text import WORD
from darc.language.word_lists import NEGATED, PRONOUNS, WORD_LISTS
from darc.parts.rewriters.transform import Draws, Found, like, putting

_DETERMINERS, _QUANTIFIERS = WORD_LISTS["determiner"], WORD_LISTS["quantifier"]
_OBJECTS, _AFTER_NOUNS = WORD_LISTS["object"], WORD_LISTS["after noun"]
_STOPS = frozenset(".,;:!?)")
_WORDS = re.compile(r"[\w'\u2019]+|[^\s\w]")
_NEXT = re.compile(rf"\s?({_WORDS.pattern})")
_LAST = re.compile(rf"({_WORDS.pattern})\s?\Z")
_ARTICLE = re.compile(r"\b([Aa])(n?) \Z")
# Only where the wording ends its clause does the other stand in the same place.
_ENDS_CLAUSE = frozenset({"carefully", "easily", "regularly", "as well", "a bit", "in the past"})
# Forms with another common sense ("provided that", "the remaining air") are left alone.
_UNTOUCHED = frozenset({"provided", "providing", "remaining"})


class Wording(NamedTuple):
    """A wording, what may stand for it, and the kind of place that it needs ("" for any)."""

    phrase: str
    replacement: str
    place: str = ""


def pairs() -> Iterator[Wording]:
    """Every exchange of the tables in its allowed direction, words in all their forms."""
    for first, second in WORDINGS["both"]:
        yield Wording(first, second)
        yield Wording(second, first)
    for first, second in (*WORDINGS["one way"], *WORDINGS["phrase"]):
        yield Wording(first, second)
    for kind, of_base, of_others in (("verb", "", ""), ("transitive", "base", "transitive")):
        for pair in WORDINGS[kind]:
            inflected = dict(zip(*map(verb_forms, pair), strict=True)).items()
            kept = ((old, new) for old, new in inflected if old not in _UNTOUCHED)
            for number, (old, new) in enumerate(kept):
                yield Wording(old, new, of_others if number else of_base)
    for first, second in WORDINGS["attributive"]:
        yield Wording(first, second, "attributive")
    for first, second in WORDINGS["noun"]:
        yield Wording(first, second, "noun")
        yield Wording(plural(first), plural(second), "plural")


# Wordings by their first word, then by phrase with the longest first.
_BY_FIRST_WORD: dict[str, dict[str, list[Wording]]] = {}
for _each in sorted(dict.fromkeys(pairs()), key=lambda each: -len(each.phrase)):
    _same_start = _BY_FIRST_WORD.setdefault(_each.phrase.split(" ", 1)[0], {})
    _same_start.setdefault(_each.phrase, []).append(_each)
_NOT_BEFORE, _NOT_AFTER = (
    {phrase: word_set(words) for each, phrase, words in read_rows("neighbours.tsv") if each == side}
    for side in ("not before", "not after")
)


def exchange(text: str, draws: Draws, share: float, shorter_only: bool = False) -> str:
    """The text with about this share of the known wordings exchanged."""
    kept: list[str] = []
    done = 0
    for start, found in _places(text, shorter_only):
        if start < done or not draws.chance(share):
            continue
        phrase, new, _ = draws.pick(found)
        before = text[done:start]
        # An "a" or "an" before it agrees with the new first letter.
        if article := _ARTICLE.search(before, max(0, len(before) - 4)):
            vowel = new[0] in "aeiou" and not new.startswith(("us", "one"))
            before = before[: article.start()] + article[1] + ("n " if vowel else " ")
        kept += [before, like(text[start], new)]
        done = start + len(phrase)
    return "".join([*kept, text[done:]])


def synonyms(text: str, draws: Draws) -> str:
    """Some known wordings exchanged."""
    return exchange(text, draws, draws.pick((0.2, 0.35, 0.5, 0.7)))


def plain(text: str, draws: Draws) -> str:
    """Known wordings exchanged for shorter ones."""
    return exchange(text, draws, draws.pick((0.4, 0.6, 0.9)), shorter_only=True)


def _places(text: str, shorter_only: bool) -> Iterator[tuple[int, list[Wording]]]:
    """Where a known wording begins, and what may stand for it."""
    parts = pieces(text)
    if not parts:
        yield from _exchangeable.__wrapped__(text, 0, shorter_only)
    before, overlap = 0, 0
    for piece in parts:
        start = before - overlap
        for place, found in _exchangeable(piece, overlap, shorter_only):
            yield start + place, found
        before = start + len(piece)
        overlap = min(3, before)


@lru_cache(maxsize=CACHED_SENTENCES)
def _exchangeable(piece: str, begin: int, shorter_only: bool) -> list[tuple[int, list[Wording]]]:
    """The same for a piece of a text from its `begin` on; no more than a stop before it matters."""
    places: list[tuple[int, list[Wording]]] = []
    for match in WORD.finditer(piece, begin):
        first = match.group().lower()
        if first in _BY_FIRST_WORD:
            found = _found(piece, match.start(), first)
            if shorter_only:
                found = [each for each in found if len(each.replacement) <= len(each.phrase)]
            if found:
                places.append((match.start(), found))
    return places


def _found(text: str, start: int, first: str) -> list[Wording]:
    """What may stand for the longest known phrase that starts here."""
    for phrase, wordings in _BY_FIRST_WORD[first].items():
        end = start + len(phrase)
        if text[start:end].lower() != phrase or text[end : end + 1].isalnum():
            continue
        if text[end : end + 1] in ("-", "'", "\u2019") or text[start - 1 : start] == "-":
            return []
        # Capitals inside a sentence are names or titles, and a title is not reworded.
        if text[start].isupper():
            leading = text[max(0, start - 12) : start].rstrip(" \t*_")
            if text[start:end].isupper() or (leading and leading[-1] not in ".!?:\n-•)"):
                return []
        after = _NEXT.match(text, end)
        before = _LAST.search(text[max(0, start - 20) : start])
        follower = after[1].lower() if after else ""
        leader = before[1].lower() if before else ""
        if follower in _NOT_BEFORE.get(phrase, ()) or leader in _NOT_AFTER.get(phrase, ()):
            return []
        if phrase in _ENDS_CLAUSE and follower and follower not in _STOPS:
            return []
        compared = leader in ("more", "most", "less", "least")
        return [
            wording
            for wording in wordings
            if not (compared and wording.replacement in WORD_LISTS["short adjective"])
            and _fits(wording.place, text, start, follower)
        ]
    return []


def _fits(place: str, text: str, start: int, follower: str) -> bool:
    """Whether a wording at `start` stands in the place it needs; `follower` comes after it."""
    if not place:
        return True
    near = [word.lower() for word in _WORDS.findall(text[max(0, start - 40) : start])[-2:]]
    leader = near[-1] if near else ""
    if place == "base":
        return follower in _OBJECTS and (not leader or leader in WORD_LISTS["before verb"])
    if place == "transitive":
        return follower in _OBJECTS and leader not in _DETERMINERS
    if place == "attributive":
        free = follower.isalpha() and follower not in _AFTER_NOUNS | _DETERMINERS
        return free and leader in _DETERMINERS | _QUANTIFIERS
    if follower and follower not in _AFTER_NOUNS | _STOPS:
        return False
    determined = not _DETERMINERS.isdisjoint(near) and not _STOPS.intersection(near)
    counted = place == "plural" and leader in _QUANTIFIERS | WORD_LISTS["preposition"]
    return determined or counted


PATTERNS = read_patterns("transforms.toml", "wording")
_WHOLE = {**NEGATED, **PRONOUNS, "let's": "let us"}
_FULL = {full: short for short, full in {**NEGATED, **PRONOUNS}.items() if full != "i have"}
_FULL["can not"] = "can't"
_ENDINGS = {"is": "'s", "have": "'ve", "would": "'d"}
_QUESTION = re.compile(r"[^.!?\n]*\?")


@putting(PATTERNS["contract"])
def contract(match: Found, draws: Draws) -> str | None:
    """Contractions made."""
    if _in_question(match) or not draws.chance(0.8):
        return None
    words = match.group().lower()
    verb = next((verb for verb in _ENDINGS if match[verb]), "")
    found = words.replace(f" {verb}", _ENDINGS[verb]) if verb else _FULL[words]
    return "I" + found[1:] if found.startswith("i'") else found


@putting(PATTERNS["expand"])
def expand(match: Found, draws: Draws) -> str | None:
    """Contractions written out."""
    if _in_question(match) or not draws.chance(0.8):
        return None
    words = match["short"].lower().replace("\u2019", "'")
    found = _WHOLE.get(words)
    if found is None and words.endswith("'s"):
        found = words.removesuffix("'s") + " is"
    opens = match.group()[:1].isupper()
    if found is None or (words in NEGATED and opens and words != "don't"):
        return None
    return "I" + found[1:] if found.startswith("i ") else found


def _in_question(match: Found) -> bool:
    """A question inverts subject and verb, so its words are left as they are."""
    text = match.string
    questions = _QUESTION.finditer(text) if "?" in text else ()
    return any(each.start() <= match.start() < each.end() for each in questions)
