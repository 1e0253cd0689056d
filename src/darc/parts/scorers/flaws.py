"""What a request asks for, and what is wrong with an answer as a text: endings, length, manners.

The lists of rude words are our own, short and English, and hold no slurs: they catch plain
contempt, not every form of hate. A word that can be harmless counts only in a sentence that speaks
to the reader.
"""

import math
from dataclasses import dataclass

import numpy as np

from darc.language.data_files import any_of, read_patterns, read_toml, word_set
from darc.language.text import WORD, Text
from darc.language.word_classes import FUNCTION_WORDS
from darc.types import CutOff

USUAL_SENTENCE = 16.0
MOST_READING = 1.5
WALL_WORDS = 180
ENOUGH_WORDS = 20

SOURCES = (
    "flaws.py",
    *(
        f"../../language/{name}.py"
        for name in ("data_files", "inflection", "text", "word_classes", "word_lists")
    ),
    *(f"../../language/data/{name}" for name in ("answers.toml", "classes.tsv", "harm.toml")),
)

KINDS = {kind: any_of(*phrases) for kind, phrases in read_toml("answers.toml")["request"].items()}
HARM = any_of(*read_toml("harm.toml")["risky"])
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MARKS = read_patterns("answers.toml", "marks")


@dataclass(frozen=True)
class Expectation:
    """What the answer should look like; `words` is the range of lengths that raises no eyebrow."""

    code: bool
    items: bool
    count: int
    number: bool
    transform: bool
    creative: bool
    harmful: bool
    words: tuple[float, float]


def expectation(question: str) -> Expectation:
    """What a question asks for. O(length); patterns of wording, so it can be wrong."""
    question = question.lower()

    def has(kind: str) -> bool:
        return KINDS[kind].search(question) is not None

    transform = has("transform")
    creative = not transform and has("creative")
    code = not transform and not creative and has("code") and has("making")
    number = not transform and not code and has("quantity")
    found = None if transform or code else KINDS["count"].search(question)
    count = found[1] if found else "0"
    if has("brief"):
        words = 12.0, 150.0
    elif transform:
        source = len(question.split())
        words = max(8.0, 0.4 * source), max(120.0, 2.0 * source)
    elif creative:
        words = 40.0, 500.0
    elif number or MARKS["fact"].search(question):
        words = 30.0, 220.0
    else:
        words = 30.0 if code else 55.0, 400.0
    return Expectation(
        code=code,
        items=has("items"),
        count=NUMBERS.index(count) + 2 if count in NUMBERS else int(count),
        number=number,
        transform=transform,
        creative=creative,
        harmful=HARM.search(question) is not None,
        words=words,
    )


def length_cost(request: Expectation, text: Text) -> float:
    """How far the length lies outside the usual range, in doublings, softly at its ends."""
    low, high = request.words
    words = len(text.raw.split()) + 1.0
    return _soft(math.log2(low / words)) + _soft(math.log2(words / high))


def shortfall(request: Expectation, text: Text) -> float:
    """The share of the items asked for that an answer lacks, 0 to 1; sentences count as items."""
    if not request.count:
        return 0.0
    given = len(text.items) if len(text.items) > 1 else len(text.sentences)
    return max(0, request.count - given) / request.count


def wall(text: Text) -> float:
    """How much a long answer lacks breaks: doublings of its longest paragraph over 180 words."""
    longest = max((len(part.split()) for part in text.raw.split("\n")), default=0)
    return _soft(math.log2((longest + 1.0) / WALL_WORDS))


def reading_cost(text: Text) -> float:
    """How far the mean sentence is from 16 words, in squared doublings, 0 to 1.5."""
    if not text.sentences or text.code:
        return 0.0
    mean = (len(text.words) + 1.0) / len(text.sentences)
    return min(math.log2(mean / USUAL_SENTENCE) ** 2, MOST_READING)


def _soft(excess: float) -> float:
    """About the excess where it is positive and 0 where it is negative, without a corner."""
    return float(np.logaddexp(0.0, 3.0 * excess)) / 3.0


CLOSED = MARKS["closed"]
SHORT_LINE = 12
TAIL = 60


def ending_cost(text: Text) -> float:
    """0 for an answer that ends properly, up to 1 for one cut off (`CutOff`, too). O(length)."""
    raw = text.raw.rstrip()
    if not raw or text.fence_is_open or isinstance(text.raw, CutOff):
        return 1.0
    if raw.endswith(("```", "~~~")) or CLOSED.search(raw):
        return 0.0
    last = MARKS["last word"].search(raw[-TAIL:])
    if MARKS["dangling"].search(raw) or (last and last[1].lower() in FUNCTION_WORDS):
        return 1.0
    if len(text.items) > 1 and not any(CLOSED.search(item) for item in text.items):
        return 0.15
    *before, line = (part.strip() for part in raw.split("\n"))
    if before and len(line) < TAIL and MARKS["signature"].match(line):
        return 0.1
    before = [part for part in before if part]
    lines_are_open = sum(not CLOSED.search(part) for part in before)
    if len(line.split()) <= SHORT_LINE and len(before) > 2 and lines_are_open > 0.7 * len(before):
        return 0.3
    return 0.8


MANNERS = read_toml("answers.toml")["manners"]
INSULTS, CONTEMPT, READER, FILLERS = (
    word_set(MANNERS[name]) for name in ("insults", "contempt", "reader", "fillers")
)
DISMISSALS, THREATS, FLATTERY, BOILERPLATE = (
    any_of(*MANNERS[name]) for name in ("dismissals", "threats", "flattery", "boilerplate")
)


def rudeness(text: Text) -> float:
    """How rude the answer is, 0 upwards; one plain insult to the reader is about 1. O(length)."""
    total = 0.6 * len(DISMISSALS.findall(text.lowered)) + 1.5 * len(THREATS.findall(text.lowered))
    if INSULTS.isdisjoint(text.words) and CONTEMPT.isdisjoint(text.words):
        return total
    insulting = 0.0
    for words in (WORD.findall(part.lower()) for part in text.sentences):
        plain, doubtful = (0.6, 0.05) if READER.isdisjoint(words) else (1.0, 0.5)
        insults = sum(word in INSULTS for word in words) * plain
        insulting += insults + sum(word in CONTEMPT for word in words) * doubtful
    return total + insulting


def shouting(text: Text) -> float:
    """The share of shouted words and of marks beyond the usual, 0 to about 1. O(length)."""
    words = WORD.findall(text.prose)
    loud = sum(len(word) > 3 and word.isupper() for word in words)
    exclaimed = max(0, text.prose.count("!") - 2)
    marks = 2.0 * len(MARKS["repeated"].findall(text.prose))
    return (loud + marks + exclaimed) / max(len(words), ENOUGH_WORDS)


def padding(text: Text) -> float:
    """The number of flattering and boilerplate phrases. O(length)."""
    return float(len(FLATTERY.findall(text.lowered)) + len(BOILERPLATE.findall(text.lowered)))


def filler(text: Text) -> float:
    """The share of words that only pad or intensify, 0 to 1."""
    return sum(word in FILLERS for word in text.words) / max(len(text.words), ENOUGH_WORDS)


def leaks(text: Text) -> float:
    """The number of template tokens that should never reach a reader. O(length)."""
    return float(len(MARKS["template"].findall(text.raw)))
