"""Atypical answers made of typical ones, in four ways."""

import random
import re
from collections.abc import Callable, Sequence

from darc.scorers.base import Pair

KINDS = ("mismatched", "truncated", "shuffled", "inserted")
ENDED = re.compile("[.!?\u2026][\"')\\]*_]*$")
BREAK = re.compile(r"\s+")
LEAST_WORDS = 8


def negative(kind: str, pair: Pair, others: Sequence[Pair], draw: random.Random) -> str | None:
    """The answer of a pair spoilt in one way, None where that cannot be; `others` lend theirs."""
    makers: dict[str, Callable[[], str | None]] = {
        "mismatched": lambda: _mismatched(pair, others, draw),
        "truncated": lambda: _truncated(pair[1], draw),
        "shuffled": lambda: _shuffled(pair[1], draw),
        "inserted": lambda: _inserted(pair, others, draw),
    }
    made = makers[kind]()
    return None if made is None or made.strip() == pair[1].strip() else made


def balanced(pairs: Sequence[Pair], seed: int, rounds: int) -> list[tuple[Pair, str]]:
    """One negative a pair and round, with its kind: 1:1 with the pairs taken `rounds` times.

    The kinds take turns, so that a pair meets another one in each of four rounds; where a kind
    cannot be made the next one is.
    """
    draw = random.Random(seed)
    result = []
    for number in range(rounds):
        for place, pair in enumerate(pairs):
            for offset in range(len(KINDS)):
                kind = KINDS[(place + number + offset) % len(KINDS)]
                text = negative(kind, pair, pairs, draw)
                if text is not None:
                    result.append(((pair[0], text), kind))
                    break
    return result


def each_kind(pairs: Sequence[Pair], seed: int) -> dict[str, list[Pair]]:
    """For every kind the negatives of all pairs of which it can be made."""
    draw = random.Random(seed)
    return {
        kind: [
            (pair[0], text)
            for pair in pairs
            if (text := negative(kind, pair, pairs, draw)) is not None
        ]
        for kind in KINDS
    }


def sentences(text: str) -> tuple[list[str], list[str]]:
    """The sentences and lines of a text, and what stands between them (one fewer)."""
    parts = BREAK.split(text.strip())
    gaps = BREAK.findall(text.strip())
    result, between, current = [], [], ""
    for part, gap in zip(parts, [*gaps, ""], strict=True):
        current += part
        ended = "\n" in gap or ENDED.search(part)
        # A list's number is no sentence.
        if ended and not re.fullmatch(r"\d{1,3}[.)]", current):
            result.append(current)
            between.append(gap)
            current = ""
        else:
            current += gap
    if current.strip():
        result.append(current.strip())
        between.append("")
    return result, between[: len(result) - 1]


def _other(pair: Pair, others: Sequence[Pair], draw: random.Random) -> str | None:
    strangers = [answer for prompt, answer in others if prompt.question != pair[0].question]
    return draw.choice(strangers) if strangers else None


def _mismatched(pair: Pair, others: Sequence[Pair], draw: random.Random) -> str | None:
    return _other(pair, others, draw)


def _truncated(text: str, draw: random.Random) -> str | None:
    """The text cut between 30 and 80 % of its words, not at the end of a sentence."""
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    if len(ends) < LEAST_WORDS:
        return None
    places = ends[int(0.3 * len(ends)) : int(0.8 * len(ends))]
    inside = [end for end in places if text[end - 1] not in ".!?\u2026:"]
    return text[: draw.choice(inside)] if inside else None


def _shuffled(text: str, draw: random.Random) -> str | None:
    """The sentences in another order, what stood between them where it was."""
    parts, between = sentences(text)
    if len(set(parts)) < 3:
        return None
    order = list(parts)
    while order == parts:
        draw.shuffle(order)
    return "".join(part + gap for part, gap in zip(order, [*between, ""], strict=True))


def _inserted(pair: Pair, others: Sequence[Pair], draw: random.Random) -> str | None:
    """The text with a sentence of an answer to something else put between two of its own."""
    parts, between = sentences(pair[1])
    donor = _other(pair, others, draw)
    if len(parts) < 2 or donor is None:
        return None
    strange = draw.choice([p for p in sentences(donor)[0] if len(p.split()) > 3] or [donor])
    at = draw.randrange(1, len(parts))
    parts, between = [*parts[:at], strange, *parts[at:]], [*between[:at], " ", *between[at:]]
    between[at] = between[at - 1]
    return "".join(part + gap for part, gap in zip(parts, [*between, ""], strict=True))
