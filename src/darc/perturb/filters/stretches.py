"""A stretch of prose read once: its words, numbers, and the words its truth turns on.

Rewrites of one answer share most of their stretches, so that readings are remembered.
"""

import re
from collections import Counter
from functools import cached_property, lru_cache
from typing import NamedTuple

from darc.perturb.filters.amounts import Amount, amounts
from darc.perturb.lexicon.contractions import ALL as CONTRACTIONS
from darc.perturb.lexicon.function_words import FUNCTION_WORDS
from darc.perturb.lexicon.numbers import CURRENCIES, MONTHS, UNITS, WEEKDAYS
from darc.perturb.lexicon.senses import dispensable, phrases
from darc.perturb.lexicon.stems import stem

_TOKEN = re.compile(
    r"\d(?:[\d.,:/]*\d)?|[^\W\d_]\.[^\W\d_]\.(?:[^\W\d_]\.)*|[^\W\d_]+(?:'[^\W\d_]+)*|[$€£¥₹%°]|[.!?:;,\n\u2013—]"
)
_STOPS = frozenset({".", "!", "?", "\n", ":"})
_SKIPPED = FUNCTION_WORDS | set(MONTHS) | set(WEEKDAYS) | set(UNITS) | set(CURRENCIES)
_REMEMBERED = 1024
_LONGEST = 1000


class Token(NamedTuple):
    """A word, number or mark of a text, in lower case, and whether a sentence begins with it."""

    word: str
    surface: str
    initial: bool


class Stretch:
    """Prose that begins with a sentence, each part worked out when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)

    @cached_property
    def words(self) -> list[str]:
        """Words, numbers and marks in order, in lower case."""
        return [token.word for token in self.tokens]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs, whatever its case."""
        return Counter(self.words)

    @cached_property
    def amounts(self) -> list[Amount]:
        """Every number with its unit or currency."""
        return amounts(self.words)

    @cached_property
    def lower(self) -> frozenset[str]:
        """The words that stand in lower case."""
        return frozenset(token.word for token in self.tokens if token.surface[:1].islower())

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """The words of two capitals or more and nothing else."""
        return frozenset(
            token.word
            for token in self.tokens
            if len(token.surface) > 1 and token.surface.isupper() and token.surface.isalpha()
        )

    @cached_property
    def capitalised(self) -> frozenset[str]:
        """The words that stand capitalised inside a sentence."""
        return frozenset(
            token.word for token in self.tokens if not token.initial and token.surface[:1].isupper()
        )

    @cached_property
    def _grouped(self) -> tuple[dict[str, Counter[str]], list[list[str]]]:
        counts: dict[str, Counter[str]] = {}
        content: list[list[str]] = [[]]
        index = phrases()
        spent = {at for amount in self.amounts for at in range(amount.start, amount.end)}
        words = self.words
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
        return counts, [sentence for sentence in content if sentence]

    @property
    def critical(self) -> dict[str, Counter[str]]:
        """By kind, how often each group of negations, conditions and the like occurs."""
        return self._grouped[0]

    @property
    def sentences(self) -> list[list[str]]:
        """Keys of the content words and phrases, in order, sentence by sentence."""
        return self._grouped[1]


def _tokens(text: str) -> list[Token]:
    """Words, numbers and marks in order, contractions written out."""
    found: list[Token] = []
    initial = True
    for surface in _TOKEN.findall(text):
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


_remembered = lru_cache(maxsize=_REMEMBERED)(Stretch)


def _stretch(text: str) -> Stretch:
    return _remembered(text) if len(text) <= _LONGEST else Stretch(text)


def stretches(prose: str) -> list[Stretch]:
    """Prose cut at line breaks and full stops, where no word, number or phrase goes on."""
    found: list[Stretch] = []
    for number, line in enumerate(prose.split("\n")):
        if number:
            found.append(_stretch("\n"))
        held = ""
        *closed, last = line.split(". ")
        for part in closed:
            stretch = _stretch(f"{held}{part}.")
            # The stop of "e.g." ends no sentence.
            if stretch.words[-1] == ".":
                found.append(stretch)
                held = ""
            else:
                held = f"{stretch.text} "
        if held or last:
            found.append(_stretch(held + last))
    return found
