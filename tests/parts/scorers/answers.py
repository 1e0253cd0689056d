"""The hand-written set: prompts with good and bad answers, and seeded ways to spoil a good one."""

import hashlib
import json
import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from darc.types import Message, Prompt

FILE = Path(__file__).with_name("discrimination.jsonl")
BAD_KINDS = ("off-topic", "salad", "rude", "evasive", "misspelt", "truncated")
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Example:
    """A prompt of a kind with its good answer and bad ones by kind."""

    prompt: Prompt
    good: str
    mediocre: str | None
    bad: dict[str, str]
    held_out: bool


@cache
def examples() -> list[Example]:
    """Every prompt with its answers, in the order of the file."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [_example(row, rows) for row in rows]


def _example(row: dict[str, str], rows: list[dict[str, str]]) -> Example:
    good = row["good"]
    draw = random.Random(row["id"])
    # From the same half, so that nothing of one half is ever seen in the other.
    others = [other["good"] for other in rows if other is not row and _half(other) == _half(row)]
    bad = {
        "off-topic": draw.choice(others),
        "salad": salad(good, draw),
        "misspelt": misspelt(good, 0.2, draw),
        "truncated": truncated(good, draw),
    }
    bad |= {kind: row[kind] for kind in ("rude", "evasive") if kind in row}
    prompt = Prompt(row["id"], (Message("user", row["prompt"]),), row["kind"])
    return Example(prompt, good, row.get("mediocre"), bad, held_out=_half(row) == 1)


def _half(row: dict[str, str]) -> int:
    """0 for the development half and 1 for the held-out one, by a hash of the id."""
    return hashlib.sha256(row["id"].encode()).digest()[0] % 2


def salad(text: str, draw: random.Random) -> str:
    """The text with its words shuffled and its marks, breaks and capitals where they were."""
    words = WORD.findall(text)
    shuffled = [word if word.isupper() else word.lower() for word in words]
    draw.shuffle(shuffled)
    places = iter(zip(words, shuffled, strict=True))

    def swap(_: re.Match[str]) -> str:
        old, new = next(places)
        return new[0].upper() + new[1:] if old[0].isupper() else new

    return WORD.sub(swap, text)


def misspelt(text: str, share: float, draw: random.Random) -> str:
    """The text with a letter wrong in this share of its words of four letters and more.

    The share is of all words; letters are swapped, dropped, doubled or replaced.
    """
    spans = [match.span() for match in WORD.finditer(text)]
    long = [span for span in spans if span[1] - span[0] >= 4]
    count = min(len(long), round(share * len(spans)))
    for start, end in sorted(draw.sample(long, count), reverse=True):
        text = text[:start] + _slip(text[start:end], draw) + text[end:]
    return text


def _slip(word: str, draw: random.Random) -> str:
    place = draw.randrange(1, len(word) - 1)
    kinds = (
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        word[:place] + word[place + 1 :],
        word[:place] + word[place] + word[place:],
        word[:place] + draw.choice(LETTERS) + word[place + 1 :],
    )
    return draw.choice([changed for changed in kinds if changed != word])


def truncated(text: str, draw: random.Random) -> str:
    """The text cut after 35 to 60 % of its words, never after the end of a sentence."""
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    first = int(0.35 * len(ends))
    last = int(0.6 * len(ends))
    middle = [end for end in ends[first:last] if text[end - 1] not in ".!?:`\"'*"]
    return text[: draw.choice(middle)]
