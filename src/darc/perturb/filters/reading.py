"""A text read once for all filters, stretch by stretch.

Rewrites of one answer share most of their stretches, so that readings are remembered.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

from darc.language.markdown import PATTERNS
from darc.language.numbers import CURRENCIES, MONTHS, UNITS, WEEKDAYS, Amount, amounts
from darc.language.senses import dispensable, phrases, senses
from darc.language.words import CONTRACTIONS, LIGHT_WORDS, stem


def difference(what: str, before: "Counter[str]", after: "Counter[str]") -> str | None:
    """What a multiset lost and gained, or None if nothing."""
    if dict.__eq__(before, after):  # many times faster than that of counters
        return None
    lost, gained = before - after, after - before
    parts = []
    if lost:
        parts.append(f"lost {_listed(lost)}")
    if gained:
        parts.append(f"gained {_listed(gained)}")
    return f"{what}: {', '.join(parts)}"


def _listed(items: "Counter[str]") -> str:
    names = sorted(items)
    shown = ", ".join(repr(name if len(name) < 40 else name[:37] + "...") for name in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")


_TOKEN = re.compile(
    r"\d(?:[\d.,:/]*\d)?|[^\W\d_]\.[^\W\d_]\.(?:[^\W\d_]\.)*|[^\W\d_]+(?:'[^\W\d_]+)*|[$€£¥₹%°]|[.!?:;,\n\u2013—]"
)
_STOPS = frozenset({".", "!", "?", "\n", ":"})
_SKIPPED = LIGHT_WORDS | set(MONTHS) | set(WEEKDAYS) | set(UNITS) | set(CURRENCIES)
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
# One of these is in whatever is opaque.
_OPAQUE_SIGNS = ("`", "~~~", "    ", "\t", "$", "\\", "://", "www.", "@", "<")
_MARKER = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
_MARKS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|~~")
_CURLY = str.maketrans({"\u2019": "'", "\u2018": "'", "“": '"', "”": '"'})


class Reading:
    """What the filters need to know of a text, each part worked out when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def length(self) -> int:
        """How many words there are between white space."""
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
        prose = _MARKER.sub("", prose if prose.isascii() else prose.translate(_CURLY))
        marked = "*" in prose or "_" in prose or "~~" in prose
        return _MARKS.sub("", prose) if marked else prose

    @cached_property
    def stretches(self) -> list[Stretch]:
        """The prose in order, in stretches that can be read one by one."""
        return stretches(self.bare)

    @property
    def tokens(self) -> list[Token]:
        """Words, numbers and marks in order, contractions written out."""
        return [token for stretch in self.stretches for token in stretch.tokens]

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word occurs, whatever its case."""
        return total(stretch.counts for stretch in self.stretches)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that stand capitalised inside a sentence and nowhere in lower case; acronyms."""
        capitalised = frozenset().union(*(stretch.capitalised for stretch in self.stretches))
        lower = frozenset().union(*(stretch.lower for stretch in self.stretches))
        acronyms = (stretch.acronyms for stretch in self.stretches)
        return (capitalised - lower).union(*acronyms)

    @cached_property
    def sentences(self) -> list[list[str]]:
        """Keys of the content words and phrases, in order, sentence by sentence."""
        return [sentence for stretch in self.stretches for sentence in stretch.sentences]

    @cached_property
    def content(self) -> list[str]:
        """The same keys in one list."""
        return [key for sentence in self.sentences for key in sentence]

    @cached_property
    def meanings(self) -> frozenset[str | int]:
        """The same keys, and the lines of equals that they stand in."""
        table = senses()
        lines = (table[key] for key in self.content if key in table)
        return frozenset[str | int](self.content).union(*lines)

    def means(self, key: str) -> bool:
        """Whether a content key counts as one with a key of the text."""
        return key in self.meanings or not self.meanings.isdisjoint(senses().get(key, ()))


Filter = Callable[[Reading, Reading, str], str | None]


def total(counts: Iterable[Counter[str]]) -> Counter[str]:
    """The sum of some counts."""
    found: Counter[str] = Counter()
    before = found.get
    for each in counts:
        for key, count in each.items():
            found[key] = before(key, 0) + count
    return found


@lru_cache(maxsize=4)
def apart(original: Reading, rewrite: Reading) -> tuple[list[Stretch], list[Stretch]]:
    """The stretches that only the original has, and those that only the rewrite has, in order.

    A stretch that both have counts as often in either, so that filters that compare counts need
    not look at it.
    """
    left = Counter(stretch.text for stretch in original.stretches)
    come: list[Stretch] = []
    for stretch in rewrite.stretches:
        if left.get(stretch.text, 0):
            left[stretch.text] -= 1
        else:
            come.append(stretch)
    gone: list[Stretch] = []
    for stretch in original.stretches:
        if left[stretch.text]:
            left[stretch.text] -= 1
            gone.append(stretch)
    return gone, come
