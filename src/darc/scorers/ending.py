"""Whether an answer ends where its writer meant it to."""

import re

from darc.language.classes import FUNCTION_WORDS
from darc.language.text import Text
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
