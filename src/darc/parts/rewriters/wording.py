"""Transforms that exchange words for others with the same meaning, and toggle contractions."""

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
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.transform import Match, match_case, replacing

PATTERNS = read_patterns("transforms.toml", "wording")
_DETERMINERS = WORD_LISTS["determiner"]
_QUANTIFIERS = WORD_LISTS["quantifier"]
_OBJECTS = WORD_LISTS["object"]
_AFTER_NOUNS = WORD_LISTS["after noun"]
_STOPS = frozenset(".,;:!?)")
_TOKEN = re.compile(r"[\w'\u2019]+|[^\s\w]")
_NEXT_TOKEN = re.compile(rf"\s?({_TOKEN.pattern})")
_LAST_TOKEN = re.compile(rf"({_TOKEN.pattern})\s?\Z")
_ARTICLE = re.compile(r"\b([Aa])(n?) \Z")
# Only where such a wording ends its clause can the other stand in the same place.
_ENDS_CLAUSE = frozenset({"carefully", "easily", "regularly", "as well", "a bit", "in the past"})
# Forms with another common sense ("provided that", "the remaining air") are left alone.
_AMBIGUOUS_FORMS = frozenset({"provided", "providing", "remaining"})
_MAX_OVERLAP = 3


class Wording(NamedTuple):
    """A wording and what may stand for it."""

    phrase: str
    replacement: str
    #: The kind of place in a sentence that the exchange needs; empty for any.
    place: str = ""


# Where a known wording begins in a text, and what may stand for it.
_Occurrence = tuple[int, list[Wording]]


def all_wordings() -> Iterator[Wording]:
    """List every exchange of the tables in its allowed direction, words in all their forms."""
    for first, second in WORDINGS["both"]:
        yield Wording(first, second)
        yield Wording(second, first)
    for first, second in (*WORDINGS["one way"], *WORDINGS["phrase"]):
        yield Wording(first, second)
    for first, second in WORDINGS["verb"]:
        for form, replacement in _verb_exchanges(first, second):
            yield Wording(form, replacement)
    for first, second in WORDINGS["transitive"]:
        for number, (form, replacement) in enumerate(_verb_exchanges(first, second)):
            yield Wording(form, replacement, "transitive" if number else "base")
    for first, second in WORDINGS["attributive"]:
        yield Wording(first, second, "attributive")
    for first, second in WORDINGS["noun"]:
        yield Wording(first, second, "noun")
        yield Wording(plural(first), plural(second), "plural")


def _verb_exchanges(first: str, second: str) -> list[tuple[str, str]]:
    """The forms of one verb with those of another, the base form first."""
    form_of = dict(zip(verb_forms(first), verb_forms(second), strict=True))
    return [(old, new) for old, new in form_of.items() if old not in _AMBIGUOUS_FORMS]


def _index_by_first_word() -> dict[str, dict[str, list[Wording]]]:
    """All wordings by their first word, then by phrase, the longest phrases first."""
    index: dict[str, dict[str, list[Wording]]] = {}
    for wording in sorted(dict.fromkeys(all_wordings()), key=lambda entry: -len(entry.phrase)):
        first_word = wording.phrase.split(" ", 1)[0]
        index.setdefault(first_word, {}).setdefault(wording.phrase, []).append(wording)
    return index


def _read_neighbours(side: str) -> dict[str, frozenset[str]]:
    """The words that must not stand on one side of a phrase, by phrase."""
    return {
        phrase: word_set(words)
        for row_side, phrase, words in read_rows("neighbours.tsv")
        if row_side == side
    }


_BY_FIRST_WORD = _index_by_first_word()
_NOT_BEFORE = _read_neighbours("not before")
_NOT_AFTER = _read_neighbours("not after")


def exchange_synonyms(text: str, draws: Draws) -> str:
    """Exchange some known wordings."""
    return _exchange(text, draws, draws.pick((0.2, 0.35, 0.5, 0.7)), shorter_only=False)


def exchange_for_shorter(text: str, draws: Draws) -> str:
    """Exchange known wordings for shorter ones."""
    return _exchange(text, draws, draws.pick((0.4, 0.6, 0.9)), shorter_only=True)


def _exchange(text: str, draws: Draws, share: float, shorter_only: bool) -> str:
    """Exchange about this share of the known wordings of a text."""
    result: list[str] = []
    end = 0
    for start, wordings in _occurrences(text, shorter_only):
        if start < end or not draws.chance(share):
            continue
        wording = draws.pick(wordings)
        before = _with_agreeing_article(text[end:start], wording.replacement)
        result += [before, match_case(text[start], wording.replacement)]
        end = start + len(wording.phrase)
    return "".join([*result, text[end:]])


def _with_agreeing_article(before: str, word: str) -> str:
    """A text whose last word "a" or "an" agrees with the word that follows."""
    article = _ARTICLE.search(before, max(0, len(before) - 4))
    if article is None:
        return before
    begins_with_vowel = word[0] in "aeiou" and not word.startswith(("us", "one"))
    ending = "n " if begins_with_vowel else " "
    return before[: article.start()] + article[1] + ending


def _occurrences(text: str, shorter_only: bool) -> Iterator[_Occurrence]:
    """Where known wordings begin in a text, found in cached pieces."""
    text_pieces = pieces(text)
    if not text_pieces:
        yield from _occurrences_in_piece.__wrapped__(text, 0, shorter_only)
    end = 0
    overlap = 0
    for piece in text_pieces:
        piece_start = end - overlap
        for start, wordings in _occurrences_in_piece(piece, overlap, shorter_only):
            yield piece_start + start, wordings
        end = piece_start + len(piece)
        overlap = min(_MAX_OVERLAP, end)


@lru_cache(maxsize=CACHED_SENTENCES)
def _occurrences_in_piece(piece: str, begin: int, shorter_only: bool) -> list[_Occurrence]:
    """Where known wordings begin in a piece, from `begin` on.

    What stands before the piece does not matter beyond a full stop.
    """
    occurrences: list[_Occurrence] = []
    for match in WORD.finditer(piece, begin):
        first_word = match.group().lower()
        if first_word not in _BY_FIRST_WORD:
            continue
        wordings = _wordings_at(piece, match.start(), first_word)
        if shorter_only:
            wordings = [
                wording for wording in wordings if len(wording.replacement) <= len(wording.phrase)
            ]
        if wordings:
            occurrences.append((match.start(), wordings))
    return occurrences


def _wordings_at(text: str, start: int, first_word: str) -> list[Wording]:
    """What may stand for the longest known phrase that starts here."""
    for phrase, wordings in _BY_FIRST_WORD[first_word].items():
        end = start + len(phrase)
        if text[start:end].lower() != phrase or text[end : end + 1].isalnum():
            continue
        if _is_compound_or_name(text, start, end):
            return []
        next_token = _NEXT_TOKEN.match(text, end)
        last_token = _LAST_TOKEN.search(text[max(0, start - 20) : start])
        follower = next_token[1].lower() if next_token else ""
        leader = last_token[1].lower() if last_token else ""
        if follower in _NOT_BEFORE.get(phrase, ()) or leader in _NOT_AFTER.get(phrase, ()):
            return []
        if phrase in _ENDS_CLAUSE and follower and follower not in _STOPS:
            return []
        is_compared = leader in ("more", "most", "less", "least")
        return [
            wording
            for wording in wordings
            if not (is_compared and wording.replacement in WORD_LISTS["short adjective"])
            and _fits(wording.place, text, start, follower)
        ]
    return []


def _is_compound_or_name(text: str, start: int, end: int) -> bool:
    """Whether a phrase is a part of a compound or contraction, or of a name or title."""
    if text[end : end + 1] in ("-", "'", "\u2019") or text[start - 1 : start] == "-":
        return True
    if not text[start].isupper():
        return False
    # A capital inside a sentence makes a name or a title, and a title is not reworded.
    before = text[max(0, start - 12) : start].rstrip(" \t*_")
    is_inside_sentence = bool(before) and before[-1] not in ".!?:\n-•)"
    return text[start:end].isupper() or is_inside_sentence


def _fits(place: str, text: str, start: int, follower: str) -> bool:
    """Whether a wording at `start` stands in the place it needs; `follower` comes after it."""
    if not place:
        return True
    last_tokens = _TOKEN.findall(text[max(0, start - 40) : start])[-2:]
    words_before = [token.lower() for token in last_tokens]
    leader = words_before[-1] if words_before else ""
    if place == "base":
        return follower in _OBJECTS and (not leader or leader in WORD_LISTS["before verb"])
    if place == "transitive":
        return follower in _OBJECTS and leader not in _DETERMINERS
    if place == "attributive":
        is_before_noun = follower.isalpha() and follower not in _AFTER_NOUNS | _DETERMINERS
        return is_before_noun and leader in _DETERMINERS | _QUANTIFIERS
    if follower and follower not in _AFTER_NOUNS | _STOPS:
        return False
    if place == "plural" and leader in _QUANTIFIERS | WORD_LISTS["preposition"]:
        return True
    return not _DETERMINERS.isdisjoint(words_before) and not _STOPS.intersection(words_before)


_EXPANSIONS = {**NEGATED, **PRONOUNS, "let's": "let us"}
_CONTRACTION_OF = {
    full: short for short, full in {**NEGATED, **PRONOUNS}.items() if full != "i have"
}
_CONTRACTION_OF["can not"] = "can't"
_ENDING_OF_VERB = {"is": "'s", "have": "'ve", "would": "'d"}
_QUESTION = re.compile(r"[^.!?\n]*\?")


@replacing(PATTERNS["contract"])
def make_contractions(match: Match, draws: Draws) -> str | None:
    """Write "do not" as "don't"."""
    if _is_in_question(match) or not draws.chance(0.8):
        return None
    words = match.group().lower()
    for verb, ending in _ENDING_OF_VERB.items():
        if match[verb]:
            return _with_capital_i(words.replace(f" {verb}", ending))
    return _with_capital_i(_CONTRACTION_OF[words])


@replacing(PATTERNS["expand"])
def expand_contractions(match: Match, draws: Draws) -> str | None:
    """Write "don't" as "do not"."""
    if _is_in_question(match) or not draws.chance(0.8):
        return None
    words = match["short"].lower().replace("\u2019", "'")
    opens_sentence = match.group()[:1].isupper()
    if words in NEGATED and opens_sentence and words != "don't":
        return None
    if words in _EXPANSIONS:
        return _with_capital_i(_EXPANSIONS[words])
    if words.endswith("'s"):
        return _with_capital_i(words.removesuffix("'s") + " is")
    return None


def _with_capital_i(words: str) -> str:
    if words.startswith(("i'", "i ")):
        return "I" + words[1:]
    return words


def _is_in_question(match: Match) -> bool:
    """Whether a match stands in a question, whose inverted words are left as they are."""
    text = match.string
    if "?" not in text:
        return False
    return any(
        question.start() <= match.start() < question.end() for question in _QUESTION.finditer(text)
    )
