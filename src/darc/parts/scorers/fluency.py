"""Is the answer well-formed English prose, or code."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from darc.errors import extra_needed
from darc.language.text import WORD, Text
from darc.language.word_classes import CLASS_OF
from darc.language.word_order import order_gain
from darc.parts.scorers import flaws
from darc.parts.scorers.base import Pair, from_costs, source_version
from darc.parts.scorers.flaws import MARKS, ending_cost
from darc.registry import scorer
from darc.typing import Array

SLIP_COST = 0.06
ORDER_COST = 7.0
LEAST_GAIN = 0.1
FEW_WORDS = 12
BRACKETS = ("()", "[]", "{}", "“”")

SOURCES = (
    "fluency.py",
    "../../language/word_order.py",
    "../../language/data/order.json",
    *flaws.SOURCES,
)
PACKAGES = ("harper-py",)

NAME_WEIGHT = 0.2
MOST_REMEMBERED = 200_000


class Spelling:
    """Counts slips with Harper's dictionary; making one takes about a second.

    A word is looked up once and remembered. Linting with all of Harper's suggestions takes 15 ms
    for a misspelt text, a remembered word almost nothing.
    """

    def __init__(self, knows: Callable[[str], bool] | None = None) -> None:
        if knows is None:
            with extra_needed("the fluency scorer", "embedded"):
                import harper
            # Its judgement of a single word is whether it has it; about 0.05 ms.
            knows = harper.Linter().is_likely_english
        self._knows = knows
        self._known = lru_cache(maxsize=MOST_REMEMBERED)(self._look_up)

    def _look_up(self, word: str) -> bool:
        easy = word in CLASS_OF or len(word) < 2
        return easy or self._knows(word) or self._knows(word.capitalize())

    def slips(self, texts: Sequence[str]) -> Array:
        """Weighted count of slips in each text, (n,).

        British and American spellings are both right; an unknown word with a capital letter is
        probably a name and counts a fifth.
        """
        slips = np.zeros(len(texts))
        for place, text in enumerate(texts):
            words = WORD.findall(text)
            unknown = [word for word in words if not self._known(word.lower().removesuffix("'s"))]
            names = sum(word[0].isupper() for word in unknown)
            lowered = text.lower()
            others = sum(len(MARKS[slip].findall(lowered)) for slip in ("doubled", "article"))
            slips[place] = NAME_WEIGHT * names + (len(unknown) - names) + others
        return slips


@scorer("fluency")
class Fluency:
    """How well an answer is written, 0 to 1; English only.

    Measures: misspellings and slips per hundred words, how plausible the order of word classes is,
    repeated phrases, garbled characters, sentences without end, unbalanced brackets in code and an
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
        self._spelling = spelling or Spelling()
        if spelling is not None:
            self.version = ""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One number between 0 and 1 a pair, (n,); 1 to 2 ms for 200 words."""
        texts = [Text(answer) for _, answer in pairs]
        lengths = np.array([len(text.words) for text in texts], dtype=np.float64)
        slips = 100.0 * self._spelling.slips([text.prose for text in texts]) / (lengths + FEW_WORDS)
        costs = np.array([_cost(text) for text in texts], dtype=np.float64)
        # The first slip of a hundred words matters more than the twentieth.
        return from_costs(costs + SLIP_COST * 10.0 * np.log1p(slips / 10.0))


def _cost(text: Text) -> float:
    """What the form of one text costs, apart from its slips."""
    if not text.raw.strip():
        return 50.0
    lacking = LEAST_GAIN - order_gain(text.tokens)
    cost = ORDER_COST * float(np.logaddexp(0.0, 12.0 * lacking)) / 12.0
    for weight, flaw in (
        (1.5, repetition(text.words)),
        (6.0, garbled(text)),
        (0.25, ending_cost(text)),
        (0.15, breathlessness(text)),
        (1.0, imbalance("\n".join(text.code))),
    ):
        cost += weight * flaw
    return cost


def imbalance(code: str) -> float:
    """The share of brackets without a partner, 0 to 1; 0 without any. O(length)."""
    counted = [(code.count(pair[0]), code.count(pair[1])) for pair in BRACKETS]
    total = sum(left + right for left, right in counted)
    return sum(abs(left - right) for left, right in counted) / total if total else 0.0


def repetition(words: Sequence[str]) -> float:
    """The share of word triples that occurred before, 0 to 1."""
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return 1.0 - len(set(triples)) / len(triples) if triples else 0.0


def garbled(text: Text) -> float:
    """The share of characters in broken encodings and runs of marks, 0 to 1."""
    prose = text.prose
    return sum(len(match[0]) for match in MARKS["garbled"].finditer(prose)) / max(len(prose), 50)


def breathlessness(text: Text) -> float:
    """How far the mean sentence exceeds 35 words, 0 upwards."""
    if not text.sentences:
        return 0.0
    mean = len(text.words) / len(text.sentences)
    return float(np.logaddexp(0.0, (mean - 35.0) / 4.0)) * 0.25
