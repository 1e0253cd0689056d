"""A text read once for all filters."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache

from darc.perturb.filters.stretches import Stretch, Token, stretches
from darc.perturb.lexicon.senses import senses
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
