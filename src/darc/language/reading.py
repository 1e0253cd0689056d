"""What the filters of rewrites need to know about a text: names, facts and content words.

Rewrites of one answer share most of their stretches of prose, so that stretches are cached.
"""

import re
from collections import Counter
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from darc.language.amounts import CURRENCIES, MONTHS, UNITS, WEEKDAYS, Amount, find_amounts
from darc.language.inflection import stem
from darc.language.masking import SPAN_PATTERNS
from darc.language.statements import MAX_CACHED_CHARACTERS
from darc.language.synonyms import KnownPhrase, empty_phrases, known_phrases, senses
from darc.language.text import STRAIGHT_QUOTES
from darc.language.word_lists import CONTRACTIONS, LIGHT_WORDS

# A kind of fact, and the key of the fact.
Fact = tuple[str, str]

_TOKEN = re.compile(
    r"\d(?:[\d.,:/]*\d)?|[^\W\d_]\.[^\W\d_]\.(?:[^\W\d_]\.)*|[^\W\d_]+(?:'[^\W\d_]+)*|[$€£¥₹%°]|[.!?:;,\n\u2013—]"
)
_SENTENCE_ENDS = frozenset({".", "!", "?", "\n", ":"})
_WITHOUT_CONTENT = LIGHT_WORDS.union(MONTHS, WEEKDAYS, UNITS, CURRENCIES)
_OPAQUE_KINDS = (
    "fence",
    "indented code",
    "code",
    "display mathematics",
    "mathematics",
    "address",
    "tag",
)
_OPAQUE = re.compile("|".join(f"(?:{SPAN_PATTERNS[kind]})" for kind in _OPAQUE_KINDS))
# Every opaque span has one of these.
_OPAQUE_SIGNS = ("`", "~~~", "    ", "\t", "$", "\\", "://", "www.", "@", "<")
_LINE_MARKER = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|~~")


class Token(NamedTuple):
    """A word, number or punctuation mark of a text."""

    #: In lower case.
    word: str
    #: As it stands in the text.
    surface: str
    #: Whether a sentence begins with it.
    initial: bool


class _WordCases(NamedTuple):
    """Words (in lower case) by how they are written."""

    lower: frozenset[str]
    # With a capital inside a sentence.
    capitalised: frozenset[str]
    # All in capitals.
    acronyms: frozenset[str]


class Stretch:
    """A piece of prose that begins with a sentence; properties are computed when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokenize(text)

    @cached_property
    def words(self) -> list[str]:
        """Words, numbers and punctuation marks in order, in lower case."""
        return [token.word for token in self.tokens]

    @cached_property
    def amounts(self) -> list[Amount]:
        """Every number with its unit or currency."""
        return find_amounts(self.words)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The last position of each word or number that carries meaning."""
        return {
            word: position
            for position, word in enumerate(self.words)
            if word[0].isalnum() and word not in LIGHT_WORDS
        }

    @cached_property
    def cases(self) -> _WordCases:
        """The words by how they are written."""
        lower: set[str] = set()
        capitalised: set[str] = set()
        acronyms: set[str] = set()
        for word, surface, initial in self.tokens:
            if surface[:1].islower():
                lower.add(word)
            elif surface[:1].isupper():
                if not initial:
                    capitalised.add(word)
                if len(surface) > 1 and surface.isupper() and surface.isalpha():
                    acronyms.add(word)
        return _WordCases(frozenset(lower), frozenset(capitalised), frozenset(acronyms))

    @property
    def facts(self) -> list[Fact]:
        """What no rewrite may change, in order, each as a kind and a key.

        These are numbers with their units ("3" and "three" are equal, as are "%" and "percent"),
        sums of money ("$5" and "5 dollars"), and groups of negations ("don't" and "do not"; "never"
        is another group), conditions (if, unless, only, until), quantities (how much, how often and
        how surely) and comparisons (with directions of change).
        """
        return self._facts_and_sentences[0]

    @property
    def sentences(self) -> list[list[str]]:
        """The keys of content words and phrases, in order, one list per sentence."""
        return self._facts_and_sentences[1]

    @cached_property
    def _facts_and_sentences(self) -> tuple[list[Fact], list[list[str]]]:
        """Both come from one pass, since a phrase is either a fact or content."""
        facts = self._number_facts()
        sentences: list[list[str]] = [[]]
        without_content = empty_phrases()
        in_amounts = {
            position for amount in self.amounts for position in range(amount.start, amount.end)
        }
        words = self.words
        position = 0
        while position < len(words):
            if position in in_amounts:
                position += 1
                continue
            phrase = _phrase_at(words, position)
            if phrase is None:
                word = words[position]
                if word in _SENTENCE_ENDS and sentences[-1]:
                    sentences.append([])
                elif word[0].isalpha() and word not in _WITHOUT_CONTENT:
                    sentences[-1].append(stem(word))
                position += 1
                continue
            if phrase.kind == "content":
                if phrase.group not in without_content:
                    sentences[-1].append(phrase.group)
            elif phrase.kind != "neutral":
                facts.append((phrase.kind, phrase.group))
            position += len(phrase.words)
        return facts, [sentence for sentence in sentences if sentence]

    def _number_facts(self) -> list[Fact]:
        numbers = [("number", f"{amount.value} {amount.unit}".strip()) for amount in self.amounts]
        sums = [
            ("sum of money", f"{amount.currency}{amount.value}")
            for amount in self.amounts
            if amount.currency
        ]
        return numbers + sums


def _phrase_at(words: list[str], position: int) -> KnownPhrase | None:
    """The longest known phrase that begins at a token."""
    for phrase in known_phrases().get(words[position], ()):
        if tuple(words[position : position + len(phrase.words)]) == phrase.words:
            return phrase
    return None


def _tokenize(text: str) -> list[Token]:
    """Split a text into words, numbers and punctuation marks, with contractions written out."""
    tokens: list[Token] = []
    initial = True
    for surface in _TOKEN.findall(text):
        word = surface.lower()
        if len(word) == 1 and not word.isalnum():
            tokens.append(Token(word, surface, False))
            initial = initial or word in _SENTENCE_ENDS
            continue
        first, *rest = CONTRACTIONS.get(word, word.removesuffix("'s")).split()
        tokens.append(Token(first, surface.removesuffix("'s"), initial))
        tokens += [Token(part, part, False) for part in rest]
        initial = False
    return tokens


_cached_stretch = lru_cache(maxsize=1024)(Stretch)


def _stretch(text: str) -> Stretch:
    if len(text) <= MAX_CACHED_CHARACTERS:
        return _cached_stretch(text)
    return Stretch(text)


class Reading:
    """A text as the filters see it; properties are computed when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def size(self) -> int:
        """The number of words separated by white space."""
        return len(self.text.split())

    @cached_property
    def opaque(self) -> list[str]:
        """Code, mathematics, addresses and tags, in order."""
        if not any(sign in self.text for sign in _OPAQUE_SIGNS):
            return []
        return [match.group() for match in _OPAQUE.finditer(self.text)]

    @cached_property
    def prose(self) -> str:
        """The text without opaque spans and markup, with straight quotation marks."""
        prose = self.text
        if self.opaque:
            prose = _OPAQUE.sub(" ", prose)
        if not prose.isascii():
            prose = prose.translate(STRAIGHT_QUOTES)
        prose = _LINE_MARKER.sub("", prose)
        if "*" in prose or "_" in prose or "~~" in prose:
            prose = _EMPHASIS.sub("", prose)
        return prose

    @cached_property
    def stretches(self) -> list[Stretch]:
        """The prose cut at line breaks and full stops.

        No word, number or phrase goes on beyond such a cut.
        """
        line_break = _stretch("\n")
        stretches: list[Stretch] = []
        for number, line in enumerate(self.prose.split("\n")):
            if number:
                stretches.append(line_break)
            stretches += _split_at_stops(line)
        return stretches

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word occurs, in any case."""
        return Counter(chain.from_iterable(stretch.words for stretch in self.stretches))

    @cached_property
    def names(self) -> frozenset[str]:
        """Acronyms, and words that are capitalised inside a sentence and nowhere in lower case."""
        lower: set[str] = set()
        capitalised: set[str] = set()
        acronyms: set[str] = set()
        for stretch in self.stretches:
            lower |= stretch.cases.lower
            capitalised |= stretch.cases.capitalised
            acronyms |= stretch.cases.acronyms
        return frozenset(capitalised - lower | acronyms)

    @cached_property
    def sentences(self) -> list[list[str]]:
        """The keys of content words and phrases, in order, one list per sentence."""
        return [sentence for stretch in self.stretches for sentence in stretch.sentences]

    @cached_property
    def content(self) -> list[str]:
        """The keys of content words and phrases in one list."""
        return [key for sentence in self.sentences for key in sentence]

    @cached_property
    def _keys_and_senses(self) -> frozenset[str | int]:
        """The content keys, and the numbers of the lines of synonyms that they stand in."""
        numbers = senses()
        lines = (numbers[key] for key in self.content if key in numbers)
        return frozenset[str | int](self.content).union(*lines)

    def means(self, key: str) -> bool:
        """Tell whether a content key counts as one with a key of the text."""
        if key in self._keys_and_senses:
            return True
        return not self._keys_and_senses.isdisjoint(senses().get(key, ()))


def _split_at_stops(line: str) -> list[Stretch]:
    """The stretches of a line, cut after full stops that end a sentence."""
    stretches: list[Stretch] = []
    unfinished = ""
    *closed_parts, last_part = line.split(". ")
    for part in closed_parts:
        stretch = _stretch(f"{unfinished}{part}.")
        # The stop of "e.g." does not end a sentence.
        if stretch.words[-1] == ".":
            stretches.append(stretch)
            unfinished = ""
        else:
            unfinished = f"{stretch.text} "
    if unfinished or last_part:
        stretches.append(_stretch(unfinished + last_part))
    return stretches
