"""Is the answer well-formed English prose, or code."""

import re
from collections.abc import Sequence

import numpy as np

from darc.language.text import Text
from darc.registry import scorer
from darc.scorers.base import LANGUAGE, Pair, from_costs, source_version
from darc.scorers.ending import ending_cost, imbalance
from darc.scorers.order import order_gain
from darc.scorers.spelling import Spelling
from darc.typing import Array

SLIP_COST = 0.06
ORDER_COST = 7.0
LEAST_GAIN = 0.1
REPETITION_COST = 1.5
GARBLED_COST = 6.0
ENDING_COST = 0.25
BRACKET_COST = 1.0
RHYTHM_COST = 0.15
FEW_WORDS = 12
GARBLED = re.compile("[\ufffd\x00-\x08\x0b\x0c\x0e-\x1f]|Ã.|â€|(.)\\1{4,}|[^\\w\\s]{5,}")

SOURCES = (
    "fluency.py",
    "ending.py",
    "order.json",
    "order.py",
    "spelling.py",
    *LANGUAGE,
)
PACKAGES = ("harper-py",)


@scorer("fluency")
class Fluency:
    """How well an answer is written, 0 to 1.

    Measures: misspellings and slips per hundred words, how plausible the order of word classes is,
    repeated phrases, garbled characters, sentences without end, unbalanced brackets in code and an
    ending cut short. It knows nothing of the prompt: a fluent answer to another question, or a
    fluent insult, scores high.
    """

    name = "fluency"
    version = source_version(*SOURCES, packages=PACKAGES)
    in_process = True
    # Printed by `python -m tests.scorers.calibrate`.
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
    cost += REPETITION_COST * repetition(text.words)
    cost += GARBLED_COST * garbled(text)
    cost += ENDING_COST * ending_cost(text)
    cost += RHYTHM_COST * breathlessness(text)
    if text.code:
        cost += BRACKET_COST * imbalance("\n".join(text.code))
    return cost


def repetition(words: Sequence[str]) -> float:
    """The share of word triples that occurred before, 0 to 1."""
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return 1.0 - len(set(triples)) / len(triples) if triples else 0.0


def garbled(text: Text) -> float:
    """The share of characters in broken encodings and runs of marks, 0 to 1."""
    prose = text.prose
    return sum(len(match[0]) for match in GARBLED.finditer(prose)) / max(len(prose), 50)


def breathlessness(text: Text) -> float:
    """How far the mean sentence exceeds 35 words, 0 upwards."""
    if not text.sentences:
        return 0.0
    mean = len(text.words) / len(text.sentences)
    return float(np.logaddexp(0.0, (mean - 35.0) / 4.0)) * 0.25
