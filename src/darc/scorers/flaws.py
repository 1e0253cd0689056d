"""Flaws that the words of an answer show: an ending cut short, evasion, rudeness, padding.

The lists of rude words are our own, short and English, and hold no slurs: they catch plain
contempt, not every form of hate. A word that can be harmless counts only in a sentence that speaks
to the reader.
"""

import re

from darc.language.classes import FUNCTION_WORDS
from darc.language.phrases import any_of, stored, word_set
from darc.language.text import WORD, Text
from darc.types import CutOff

CLOSED = re.compile(
    r"[.!?\u2026][\"'\u201d\u2019\xbb)\]*_`]*$|[:;]-?\)$|\|$|[\U0001F300-\U0001FAFF\u2600-\u27bf]$"
)
DANGLING = re.compile(r"[,;:(\[{\u2013\u2014/=+*-]$")
LAST_WORD = re.compile(r"([^\W\d_]+(?:['\u2019][^\W\d_]+)*)\W*$")
SIGNATURE = re.compile(r"^(?:[A-Z][\w.'\u2019-]*\s?){1,4}$")
SHORT_LINE = 12
TAIL = 60
PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))


def ending_cost(text: Text) -> float:
    """0 for an answer that ends properly, up to 1 for one cut off (`CutOff`, too). O(length)."""
    raw = text.raw.rstrip()
    if not raw or text.fence_is_open or isinstance(text.raw, CutOff):
        return 1.0
    if raw.endswith(("```", "~~~")) or CLOSED.search(raw):
        return 0.0
    if DANGLING.search(raw):
        return 1.0
    last = LAST_WORD.search(raw[-TAIL:])
    if last and last[1].lower() in FUNCTION_WORDS:
        return 1.0
    line = raw.rsplit("\n", 1)[-1].strip()
    bare = [item for item in text.items if not CLOSED.search(item)]
    if len(text.items) > 1 and len(bare) == len(text.items):
        return 0.15
    if "\n" in raw and len(line) < TAIL and SIGNATURE.match(line):
        return 0.1
    before = [part for part in raw.split("\n")[:-1] if part.strip()]
    lines_are_open = sum(not CLOSED.search(part.rstrip()) for part in before)
    if len(line.split()) <= SHORT_LINE and len(before) > 2 and lines_are_open > 0.7 * len(before):
        return 0.3
    return 0.8


def imbalance(code: str) -> float:
    """The share of brackets without a partner, 0 to 1; 0 without any. O(length)."""
    counted = [(code.count(left), code.count(right)) for left, right in PAIRS]
    total = sum(left + right for left, right in counted)
    return sum(abs(left - right) for left, right in counted) / total if total else 0.0


EVASION = stored("answers.toml")["evasion"]
# How surely a sentence with such a phrase says nothing.
WEIGHTS = tuple(
    (weight, any_of(*EVASION[kind]))
    for kind, weight in (("refusals", 0.9), ("delegations", 0.65), ("vagueness", 0.5))
)
REST_WEIGHT = 0.35


def evasion(text: Text) -> float:
    """How much of the answer evades, 0 to 1: evasive sentences against substantial ones.

    One admission of doubt in a long answer weighs little. O(length).
    """
    if not text.sentences:
        return 0.0
    evasive = sum(map(evasiveness, text.sentences))
    blocks = 3.0 * len(text.code) + 0.5 * len(text.inline_code)
    rest = len(text.sentences) - evasive + blocks
    return evasive / (evasive + REST_WEIGHT * rest)


def evasiveness(sentence: str) -> float:
    """How surely one sentence evades, 0 to below 1."""
    lowered, doubt = sentence.lower(), 1.0
    for weight, pattern in WEIGHTS:
        if pattern.search(lowered):
            doubt *= 1.0 - weight
    return 1.0 - doubt


MANNERS = stored("answers.toml")["manners"]
INSULTS, CONTEMPT, READER, FILLERS = (
    word_set(MANNERS[name]) for name in ("insults", "contempt", "reader", "fillers")
)
DISMISSALS, THREATS = any_of(*MANNERS["dismissals"]), any_of(*MANNERS["threats"])
FLATTERY, BOILERPLATE = any_of(*MANNERS["flattery"]), any_of(*MANNERS["boilerplate"])
TEMPLATE = re.compile(
    r"<\|[^|\n]{0,40}\|>|\[/?INST\]|</?s>|<unk>|<pad>|<eos>|<(?:start|end)_of_turn>|\{\{[^}\n]*\}\}"
    r"|^(?:#{2,3} ?(?:Instruction|Response)|User|Human|Assistant|System) ?:",
    re.MULTILINE,
)
REPEATED_MARKS = re.compile(r"[!?]{2,}")
ENOUGH_WORDS = 20


def rudeness(text: Text) -> float:
    """How rude the answer is, 0 upwards; one plain insult to the reader is about 1. O(length)."""
    total = 0.6 * len(DISMISSALS.findall(text.lowered)) + 1.5 * len(THREATS.findall(text.lowered))
    if INSULTS.isdisjoint(text.words) and CONTEMPT.isdisjoint(text.words):
        return total
    return total + sum(_insults(WORD.findall(part.lower())) for part in text.sentences)


def _insults(words: list[str]) -> float:
    """How insulting the words of one sentence are."""
    addressed = not READER.isdisjoint(words)
    insults = sum(word in INSULTS for word in words) * (1.0 if addressed else 0.6)
    return insults + sum(word in CONTEMPT for word in words) * (0.5 if addressed else 0.05)


def shouting(text: Text) -> float:
    """The share of shouted words and of marks beyond the usual, 0 to about 1. O(length)."""
    words = WORD.findall(text.prose)
    loud = sum(len(word) > 3 and word.isupper() for word in words)
    exclaimed = max(0, text.prose.count("!") - 2)
    marks = 2.0 * len(REPEATED_MARKS.findall(text.prose))
    return (loud + marks + exclaimed) / max(len(words), ENOUGH_WORDS)


def padding(text: Text) -> float:
    """The number of flattering and boilerplate phrases. O(length)."""
    return float(len(FLATTERY.findall(text.lowered)) + len(BOILERPLATE.findall(text.lowered)))


def leaks(text: Text) -> float:
    """The number of template tokens that should never reach a reader. O(length)."""
    return float(len(TEMPLATE.findall(text.raw)))
