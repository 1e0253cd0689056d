"""Flaws in the manners of an answer: rudeness, shouting, padding and leaked template tokens.

The lists of rude words are our own, short and English, and have no slurs: they catch plain
contempt, not every form of hate. A word that can be harmless counts only in a sentence that speaks
to the reader.
"""

from darc.language.data_files import any_of, read_patterns, read_toml, word_set
from darc.language.text import WORD, Text

SOURCES = (
    "manners.py",
    "../../language/data_files.py",
    "../../language/text.py",
    "../../language/data/answers.toml",
)
# In a shorter text, one word is not yet a share of words.
_MIN_WORDS = 20
_MARKS = read_patterns("answers.toml", "marks")
_MANNERS = read_toml("answers.toml")["manners"]
_INSULTS = word_set(_MANNERS["insults"])
_CONTEMPT = word_set(_MANNERS["contempt"])
_READER = word_set(_MANNERS["reader"])
_FILLERS = word_set(_MANNERS["fillers"])
_DISMISSALS = any_of(*_MANNERS["dismissals"])
_THREATS = any_of(*_MANNERS["threats"])
_FLATTERY = any_of(*_MANNERS["flattery"])
_BOILERPLATE = any_of(*_MANNERS["boilerplate"])


def rudeness(text: Text) -> float:
    """How rude the answer is, 0 upwards; one plain insult to the reader is about 1. O(length)."""
    dismissals = len(_DISMISSALS.findall(text.lowered))
    threats = len(_THREATS.findall(text.lowered))
    cost = 0.6 * dismissals + 1.5 * threats
    if _INSULTS.isdisjoint(text.words) and _CONTEMPT.isdisjoint(text.words):
        return cost
    insult_cost = 0.0
    for sentence in text.sentences:
        insult_cost += _insult_cost(WORD.findall(sentence.lower()))
    return cost + insult_cost


def _insult_cost(words: list[str]) -> float:
    """The cost of the insults in one sentence, which are worse if it speaks to the reader."""
    insults = sum(word in _INSULTS for word in words)
    contempt = sum(word in _CONTEMPT for word in words)
    if _READER.isdisjoint(words):
        return 0.6 * insults + 0.05 * contempt
    return 1.0 * insults + 0.5 * contempt


def shouting(text: Text) -> float:
    """The share of words in capitals and of unusual marks, 0 to about 1. O(length)."""
    words = WORD.findall(text.prose)
    capitals = sum(len(word) > 3 and word.isupper() for word in words)
    exclamations = max(0, text.prose.count("!") - 2)
    repeated_marks = 2.0 * len(_MARKS["repeated"].findall(text.prose))
    return (capitals + repeated_marks + exclamations) / max(len(words), _MIN_WORDS)


def padding(text: Text) -> float:
    """The number of flattering and boilerplate phrases. O(length)."""
    flattery = len(_FLATTERY.findall(text.lowered))
    boilerplate = len(_BOILERPLATE.findall(text.lowered))
    return float(flattery + boilerplate)


def filler(text: Text) -> float:
    """The share of words that only pad or intensify, 0 to 1."""
    fillers = sum(word in _FILLERS for word in text.words)
    return fillers / max(len(text.words), _MIN_WORDS)


def template_tokens(text: Text) -> float:
    """The number of template tokens that should never reach a reader. O(length)."""
    return float(len(_MARKS["template"].findall(text.raw)))
