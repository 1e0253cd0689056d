"""The scorer `fluency`: is the answer well-formed English prose, or code?"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from darc.errors import extra_needed
from darc.language.data_files import read_patterns
from darc.language.text import WORD, Text
from darc.language.word_classes import CLASS_OF
from darc.language.word_order import order_gain
from darc.parts.scorers import shape
from darc.parts.scorers.base import Pair, scores_from_costs, source_version
from darc.parts.scorers.shape import ending_cost
from darc.registry import scorer
from darc.typing import Array

SOURCES = (
    "fluency.py",
    "../../language/word_order.py",
    "../../language/data/order.json",
    *shape.SOURCES,
)
PACKAGES = ("harper-py",)
_SLIP_COST = 0.06
_ORDER_COST = 7.0
_EXPECTED_GAIN = 0.1
_EMPTY_COST = 50.0
# Added to the length of a text, so that one slip in a very short text does not cost everything.
_EXTRA_WORDS = 12
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
_UNKNOWN_NAME_WEIGHT = 0.2
_MAX_CACHED_WORDS = 200_000
_MARKS = read_patterns("answers.toml", "marks")


class Spelling:
    """Counts slips with Harper's dictionary; making one takes about a second.

    Each word is looked up once and cached. Linting with all of Harper's suggestions takes 15 ms for
    a misspelt text, a cached word almost nothing.
    """

    def __init__(self, is_known: Callable[[str], bool] | None = None) -> None:
        """Load the dictionary.

        Args:
            is_known: Tells whether a word is in the dictionary; None for Harper's dictionary.

        Raises:
            MissingExtra: If Harper is needed and not installed.
        """
        if is_known is None:
            with extra_needed("the fluency scorer", "embedded"):
                import harper
            # Of a single word, it tells whether the dictionary has it; about 0.05 ms.
            is_known = harper.Linter().is_likely_english
        self._is_known = is_known
        self._is_right = lru_cache(maxsize=_MAX_CACHED_WORDS)(self._look_up)

    def _look_up(self, word: str) -> bool:
        if word in CLASS_OF or len(word) < 2:
            return True
        return self._is_known(word) or self._is_known(word.capitalize())

    def slips(self, texts: Sequence[str]) -> Array:
        """Count the slips in each text, (texts,).

        British and American spellings are both right. An unknown word with a capital letter is
        probably a name and counts a fifth.
        """
        return np.array([self._count_slips(text) for text in texts], dtype=np.float64)

    def _count_slips(self, text: str) -> float:
        words = WORD.findall(text)
        unknown = [word for word in words if not self._is_right(word.lower().removesuffix("'s"))]
        names = sum(word[0].isupper() for word in unknown)
        lowered = text.lower()
        doubled_words = len(_MARKS["doubled"].findall(lowered))
        wrong_articles = len(_MARKS["article"].findall(lowered))
        misspelt = len(unknown) - names
        return _UNKNOWN_NAME_WEIGHT * names + misspelt + (doubled_words + wrong_articles)


@scorer("fluency")
class Fluency:
    """How well an answer is written, 0 to 1; English only.

    It measures misspellings and slips per hundred words, how plausible the order of word classes
    is, repeated phrases, garbled characters, endless sentences, unbalanced brackets in code, and an
    ending cut short. It knows nothing of the prompt: a fluent answer to another question, or a
    fluent insult, scores high.
    """

    name = "fluency"
    version = source_version(*SOURCES, packages=PACKAGES)
    in_process = True
    # Printed by `python -m tests.parts.scorers.calibrate`.
    location = 0.838
    scale = 0.140
    bounds = (0.0, 1.0)

    def __init__(self, spelling: Spelling | None = None) -> None:
        if spelling is None:
            self._spelling = Spelling()
        else:
            self._spelling = spelling
            # Nothing is known about another dictionary.
            self.version = ""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs between 0 and 1, (pairs,); 1 to 2 ms for 200 words."""
        texts = [Text(answer) for _, answer in pairs]
        word_counts = np.array([len(text.words) for text in texts], dtype=np.float64)
        slips = self._spelling.slips([text.prose for text in texts])
        slips_per_hundred = 100.0 * slips / (word_counts + _EXTRA_WORDS)
        costs = np.array([_cost(text) for text in texts], dtype=np.float64)
        # The first slip in a hundred words matters more than the twentieth.
        return scores_from_costs(costs + _SLIP_COST * 10.0 * np.log1p(slips_per_hundred / 10.0))


def _cost(text: Text) -> float:
    """What the form of one text costs, apart from its slips."""
    if not text.raw.strip():
        return _EMPTY_COST
    lacking_gain = _EXPECTED_GAIN - order_gain(text.tokens)
    cost = _ORDER_COST * float(np.logaddexp(0.0, 12.0 * lacking_gain)) / 12.0
    cost += 1.5 * repetition(text.words)
    cost += 6.0 * garbled(text)
    cost += 0.25 * ending_cost(text)
    cost += 0.15 * breathlessness(text)
    cost += 1.0 * imbalance("\n".join(text.code))
    return cost


def imbalance(code: str) -> float:
    """The share of brackets without a partner, 0 to 1; 0 without brackets. O(length)."""
    total = 0
    unmatched = 0
    for opening, closing in _BRACKETS:
        opened = code.count(opening)
        closed = code.count(closing)
        total += opened + closed
        unmatched += abs(opened - closed)
    if not total:
        return 0.0
    return unmatched / total


def repetition(words: Sequence[str]) -> float:
    """The share of word triples that occurred before, 0 to 1."""
    triples = list(zip(words, words[1:], words[2:], strict=False))
    if not triples:
        return 0.0
    return 1.0 - len(set(triples)) / len(triples)


def garbled(text: Text) -> float:
    """The share of characters in broken encodings and runs of marks, 0 to 1."""
    prose = text.prose
    garbled_characters = sum(len(match[0]) for match in _MARKS["garbled"].finditer(prose))
    return garbled_characters / max(len(prose), 50)


def breathlessness(text: Text) -> float:
    """How far the mean sentence exceeds 35 words, 0 upwards."""
    if not text.sentences:
        return 0.0
    mean_words = len(text.words) / len(text.sentences)
    return float(np.logaddexp(0.0, (mean_words - 35.0) / 4.0)) * 0.25
