"""How much of an answer evades its question."""

import math

from darc.language.data_files import any_of, read_toml
from darc.language.text import Text

SOURCES = (
    "evasion.py",
    "../../language/data_files.py",
    "../../language/text.py",
    "../../language/data/answers.toml",
)
_PHRASES = read_toml("answers.toml")["evasion"]
# How surely a sentence with such a phrase says nothing.
_EVASIVE_PHRASES = (
    (0.9, any_of(*_PHRASES["refusals"])),
    (0.65, any_of(*_PHRASES["delegations"])),
    (0.5, any_of(*_PHRASES["vagueness"])),
)
_SUBSTANCE_WEIGHT = 0.35


def evasion(text: Text) -> float:
    """How much of the answer evades, 0 to 1: evasive sentences against substantial ones. O(length).

    One admission of doubt in a long answer weighs little.
    """
    if not text.sentences:
        return 0.0
    evasive = 0.0
    for sentence in text.sentences:
        evasive += _evasiveness(sentence.lower())
    code_substance = 3.0 * len(text.code) + 0.5 * len(text.inline_code)
    substance = len(text.sentences) - evasive + code_substance
    return evasive / (evasive + _SUBSTANCE_WEIGHT * substance)


def _evasiveness(sentence: str) -> float:
    """How surely a sentence in lower case says nothing, 0 to 1."""
    doubts = (1.0 - weight for weight, pattern in _EVASIVE_PHRASES if pattern.search(sentence))
    return 1.0 - math.prod(doubts, start=1.0)
