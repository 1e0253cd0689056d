"""A text read once for all filters: its words, numbers, and the words its truth turns on."""

import re
from collections import Counter
from functools import cached_property
from typing import NamedTuple

from darc.perturb.filters.amounts import Amount, amounts
from darc.perturb.lexicon.contractions import ALL as CONTRACTIONS
from darc.perturb.lexicon.function_words import FUNCTION_WORDS
from darc.perturb.lexicon.numbers import CURRENCIES, MONTHS, UNITS, WEEKDAYS
from darc.perturb.lexicon.senses import dispensable, phrases
from darc.perturb.lexicon.stems import stem
from darc.perturb.spans import PATTERNS

_OPAQUE_KINDS = (
    "fence",
    "indented code",
    "code",
    "display mathematics",
    "mathematics",
    "address",
    "tag",
)
_OPAQUE = re.compile("|".join(f"(?:{PATTERNS[kind]})" for kind in _OPAQUE_KINDS))
_MARKER = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
_MARKS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|~~")
_TOKEN = re.compile(
    r"\d(?:[\d.,:/]*\d)?|[^\W\d_]\.[^\W\d_]\.(?:[^\W\d_]\.)*|[^\W\d_]+(?:'[^\W\d_]+)*|[$€£¥₹%°]|[.!?:;,\n\u2013—]"
)
_CURLY = str.maketrans({"\u2019": "'", "\u2018": "'", "“": '"', "”": '"'})
_STOPS = frozenset({".", "!", "?", "\n", ":"})


class Token(NamedTuple):
    """A word, number or mark of a text, in lower case, and whether a sentence begins with it."""

    word: str
    surface: str
    initial: bool


class Reading:
    """What the filters need to know of a text, each part worked out when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def opaque(self) -> list[str]:
        """Code, mathematics, addresses and tags, in order."""
        return [match.group() for match in _OPAQUE.finditer(self.text)]

    @cached_property
    def bare(self) -> str:
        """The prose alone, without marks of form and with straight quotes."""
        prose = _OPAQUE.sub(" ", self.text).translate(_CURLY)
        return _MARKS.sub("", _MARKER.sub("", prose))

    @cached_property
    def tokens(self) -> list[Token]:
        """Words, numbers and marks in order, contractions written out."""
        found: list[Token] = []
        initial = True
        for match in _TOKEN.finditer(self.bare):
            surface = match.group()
            word = surface.lower()
            if len(word) == 1 and not word.isalnum():
                found.append(Token(word, surface, False))
                initial = initial or word in _STOPS
                continue
            first, *rest = CONTRACTIONS.get(word, word.removesuffix("'s")).split()
            found.append(Token(first, surface.removesuffix("'s"), initial))
            found += [Token(part, part, False) for part in rest]
            initial = False
        return found

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word occurs, whatever its case."""
        return Counter(token.word for token in self.tokens)

    @cached_property
    def amounts(self) -> list[Amount]:
        """Every number with its unit or currency."""
        return amounts([token.word for token in self.tokens])

    @cached_property
    def _grouped(self) -> tuple[dict[str, Counter[str]], list[list[str]]]:
        counts: dict[str, Counter[str]] = {}
        content: list[list[str]] = [[]]
        index = phrases()
        spent = {at for amount in self.amounts for at in range(amount.start, amount.end)}
        words = [token.word for token in self.tokens]
        at = 0
        while at < len(words):
            if at in spent:
                at += 1
                continue
            for phrase, kind, group in index.get(words[at], ()):
                if tuple(words[at : at + len(phrase)]) == phrase:
                    if kind == "content" and not dispensable(group):
                        content[-1].append(group)
                    elif kind not in ("content", "neutral"):
                        counts.setdefault(kind, Counter())[group] += 1
                    at += len(phrase)
                    break
            else:
                word = words[at]
                if word in _STOPS and content[-1]:
                    content.append([])
                elif word[0].isalpha() and word not in _SKIPPED:
                    content[-1].append(stem(word))
                at += 1
        return counts, content

    def critical(self, kind: str) -> Counter[str]:
        """How often each group of negations, conditions, quantities or comparisons occurs."""
        return self._grouped[0].get(kind, Counter())

    @cached_property
    def content(self) -> list[str]:
        """Keys of the content words and phrases, in order."""
        return [key for sentence in self.sentences for key in sentence]

    @property
    def sentences(self) -> list[list[str]]:
        """The same keys, sentence by sentence."""
        return self._grouped[1]


_SKIPPED = FUNCTION_WORDS | set(MONTHS) | set(WEEKDAYS) | set(UNITS) | set(CURRENCIES)
