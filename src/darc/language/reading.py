"""A text read once for all that is asked of it: tokens, amounts, names, groups, content words.

Rewrites of one answer share most of their stretches, so that these are remembered.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from darc.language.phrases import read_rows
from darc.language.text import LONGEST, PATTERNS, STRAIGHT
from darc.language.words import CONTRACTIONS, LIGHT_WORDS, dispensable, phrases, senses, stem

_WORDS = [(kind, value, words.split()) for kind, value, words in read_rows("amounts.tsv")]


def _values(kind: str) -> dict[str, str]:
    return {word: value for each, value, words in _WORDS if each == kind for word in words}


def _counted(kind: str, step: int = 1) -> dict[str, int]:
    ((first, words),) = ((int(value), words) for each, value, words in _WORDS if each == kind)
    return {word: step * number for number, word in enumerate(words, first)}


_SMALL = {**_counted("ones"), **_counted("tens", 10)}
_ORDINALS = _counted("ordinals")
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNITS, _CURRENCIES, WEEKDAYS = _values("unit"), _values("currency"), _values("weekday")
MONTHS = {word: int(number) for word, number in _values("month").items()}


@dataclass(frozen=True)
class Amount:
    """A number, its unit or currency ("" without), and the tokens it was read from."""

    value: str
    unit: str
    currency: str
    start: int
    end: int


def amounts(words: list[str]) -> list[Amount]:
    """Every number among lower-case tokens; a lone "one" is a pronoun and no number."""
    found: list[Amount] = []
    at = 0
    while at < len(words):
        value, after = _value(words, at)
        if value is None:
            at += 1
            continue
        currency = _CURRENCIES.get(words[at - 1], "") if at and len(words[at - 1]) == 1 else ""
        start = at - 1 if currency else at
        unit = ""
        for word in words[after : after + 2]:
            known = _CURRENCIES.get(word, "")
            if known and not currency:
                currency, after = known, after + 1
            elif word in _UNITS and not currency:
                # "degrees celsius" is one unit in two words.
                unit, after = _UNITS[word] if unit in ("", "degree") else unit, after + 1
            else:
                break
        if words[after : after + 2] == ["per", "cent"]:
            unit, after = "%", after + 2
        found.append(Amount(value, unit, currency, start, after))
        at = after
    return found


def _value(words: list[str], at: int) -> tuple[str | None, int]:
    """The number that begins at a token, None without one, and the place after it."""
    word, after = words[at], at + 1
    if word[0].isdigit():
        plain = word.replace(",", "")
        if not plain.replace(".", "", 1).isdigit():
            return plain, after
        number, follower = float(plain), words[after] if after < len(words) else ""
        if follower in ("st", "nd", "rd", "th"):
            return f"{number:g}th", after + 1
        if follower == "s" and len(plain) == 4:
            return f"{number:g}s", after + 1
        while after < len(words) and words[after] in _SCALES:
            number *= _SCALES[words[after]]
            after += 1
        return f"{number:.12g}", after
    if word in _ORDINALS:
        return f"{_ORDINALS[word]}th", after
    if word == "dozen":
        return "12", after
    if word in _SMALL or (word in _SCALES and at and words[at - 1] == "a"):
        return _spelt(words, at)
    return None, at


def _spelt(words: list[str], at: int) -> tuple[str | None, int]:
    total, current, after = 0, 0, at
    while after < len(words) and (words[after] in _SMALL or words[after] in _SCALES):
        word = words[after]
        current = current + _SMALL[word] if word in _SMALL else max(current, 1) * _SCALES[word]
        if word in _SCALES and word != "hundred":
            total, current = total + current, 0
        after += 1
    alone = after == at + 1 and words[at] == "one"
    if alone and not (after < len(words) and words[after] in _UNITS):
        return None, at
    return str(total + current), after


_TOKEN = re.compile(
    r"\d(?:[\d.,:/]*\d)?|[^\W\d_]\.[^\W\d_]\.(?:[^\W\d_]\.)*|[^\W\d_]+(?:'[^\W\d_]+)*|[$€£¥₹%°]|[.!?:;,\n\u2013—]"
)
# A kind of fact, and which of them it is.
Fact = tuple[str, str]
_STOPS = frozenset({".", "!", "?", "\n", ":"})
_SKIPPED = LIGHT_WORDS.union(MONTHS, WEEKDAYS, _UNITS, _CURRENCIES)


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
    def amounts(self) -> list[Amount]:
        """Every number with its unit or currency."""
        return amounts(self.words)

    @cached_property
    def places(self) -> dict[str, int]:
        """The last place of each word or number that carries meaning."""
        return {
            word: at
            for at, word in enumerate(self.words)
            if word[0].isalnum() and word not in LIGHT_WORDS
        }

    @cached_property
    def cases(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """The words that stand in lower case, capitalised inside a sentence, and in capitals."""
        lower, capitalised, acronyms = set(), set(), set()
        for word, surface, initial in self.tokens:
            if surface[:1].islower():
                lower.add(word)
            elif surface[:1].isupper():
                if not initial:
                    capitalised.add(word)
                if len(surface) > 1 and surface.isupper() and surface.isalpha():
                    acronyms.add(word)
        return frozenset(lower), frozenset(capitalised), frozenset(acronyms)

    @cached_property
    def _grouped(self) -> tuple[list[Fact], list[list[str]]]:
        facts = [("number", f"{each.value} {each.unit}".strip()) for each in self.amounts]
        facts += [("sum of money", f"{a.currency}{a.value}") for a in self.amounts if a.currency]
        content: list[list[str]] = [[]]
        index, empty = phrases(), dispensable()
        spent = {at for amount in self.amounts for at in range(amount.start, amount.end)}
        words = self.words
        at = 0
        while at < len(words):
            if at in spent:
                at += 1
                continue
            for phrase, kind, group in index.get(words[at], ()):
                if tuple(words[at : at + len(phrase)]) == phrase:
                    if kind == "content" and group not in empty:
                        content[-1].append(group)
                    elif kind not in ("content", "neutral"):
                        facts.append((kind, group))
                    at += len(phrase)
                    break
            else:
                word = words[at]
                if word in _STOPS and content[-1]:
                    content.append([])
                elif word[0].isalpha() and word not in _SKIPPED:
                    content[-1].append(stem(word))
                at += 1
        return facts, [sentence for sentence in content if sentence]

    @property
    def facts(self) -> list[Fact]:
        """What no rewrite may change, in order, each as a kind and a key.

        Numbers with their units ("3" and "three" are one, as are "%" and "percent"), sums of money
        ("$5" and "5 dollars"), and groups of negations ("don't" and "do not"; "never" is another),
        conditions (if, unless, only, until), quantities (how much, how often and how surely) and
        comparisons (directions of change too).
        """
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


_remembered = lru_cache(maxsize=1024)(Stretch)


def _stretch(text: str) -> Stretch:
    return _remembered(text) if len(text) <= LONGEST else Stretch(text)


_OPAQUE_KINDS = ("fence", "indented code", "code", "display mathematics", "mathematics")
_OPAQUE = re.compile(
    "|".join(f"(?:{PATTERNS[kind]})" for kind in (*_OPAQUE_KINDS, "address", "tag"))
)
# One of these is in whatever is opaque.
_OPAQUE_SIGNS = ("`", "~~~", "    ", "\t", "$", "\\", "://", "www.", "@", "<")
_MARKER = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
_MARKS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|~~")


class Reading:
    """What is to be known of a text, each part worked out when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def size(self) -> int:
        """The number of words, as they stand between white space."""
        return len(self.text.split())

    @cached_property
    def opaque(self) -> list[str]:
        """Code, mathematics, addresses and tags, in order."""
        if not any(sign in self.text for sign in _OPAQUE_SIGNS):
            return []
        return [match.group() for match in _OPAQUE.finditer(self.text)]

    @cached_property
    def bare(self) -> str:
        """The prose alone, without marks of form and with straight quotes."""
        prose = _OPAQUE.sub(" ", self.text) if self.opaque else self.text
        prose = _MARKER.sub("", prose if prose.isascii() else prose.translate(STRAIGHT))
        marked = "*" in prose or "_" in prose or "~~" in prose
        return _MARKS.sub("", prose) if marked else prose

    @cached_property
    def stretches(self) -> list[Stretch]:
        """The prose cut at line breaks and full stops, where no word, number or phrase goes on."""
        found: list[Stretch] = []
        for number, line in enumerate(self.bare.split("\n")):
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

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word occurs, whatever its case."""
        return Counter(chain.from_iterable(stretch.words for stretch in self.stretches))

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that stand capitalised inside a sentence and nowhere in lower case; acronyms."""
        none = (frozenset[str](),) * 3
        cases = zip(none, *(stretch.cases for stretch in self.stretches), strict=True)
        lower, capitalised, acronyms = (frozenset[str]().union(*words) for words in cases)
        return capitalised - lower | acronyms

    @cached_property
    def sentences(self) -> list[list[str]]:
        """Keys of the content words and phrases, in order, sentence by sentence."""
        return [sentence for stretch in self.stretches for sentence in stretch.sentences]

    @cached_property
    def content(self) -> list[str]:
        """The same keys in one list."""
        return [key for sentence in self.sentences for key in sentence]

    @cached_property
    def _senses(self) -> frozenset[str | int]:
        """The same keys, and the lines of equals that they stand in."""
        table = senses()
        lines = (table[key] for key in self.content if key in table)
        return frozenset[str | int](self.content).union(*lines)

    def means(self, key: str) -> bool:
        """Whether a content key counts as one with a key of the text."""
        return key in self._senses or not self._senses.isdisjoint(senses().get(key, ()))
