"""Atypical answers, made by spoiling typical ones."""

import random
import re
from collections.abc import Sequence

from darc.parts.scorers.base import Pair

#: Ways of spoiling an answer.
KINDS = ("mismatched", "truncated", "shuffled", "inserted")

# A sentence ends at a mark, or at the end of a line; the space behind it is the second group. The
# number of a list's entry does not end a sentence.
_SENTENCE = re.compile(r"((?:\d{1,3}[.)]\s+)?.*?(?:[.!?\u2026][\"')\]*_]*(?=\s)|(?=\s*\n)|$))(\s*)")
_SENTENCE_ENDS = ".!?\u2026:"
_MIN_WORDS_TO_TRUNCATE = 8
_MIN_SENTENCES_TO_SHUFFLE = 3
_MIN_WORDS_TO_INSERT = 4


def negative(kind: str, pair: Pair, others: Sequence[Pair], draw: random.Random) -> str | None:
    """Spoil the answer of a pair.

    Args:
        kind: One of `KINDS`.
        pair: A prompt and its answer.
        others: Pairs of other prompts, which lend their answers.
        draw: The random numbers.

    Returns:
        The spoilt answer; None if it cannot be spoilt in that way.
    """
    prompt, text = pair
    if kind == "truncated":
        spoilt = _truncate(text, draw)
    elif kind == "shuffled":
        spoilt = _shuffle(text, draw)
    else:
        answers = [answer for other, answer in others if other.question != prompt.question]
        foreign = draw.choice(answers) if answers else None
        spoilt = foreign if kind == "mismatched" else _insert(text, foreign, draw)
    if spoilt is None or spoilt.strip() == text.strip():
        return None
    return spoilt


def balanced(pairs: Sequence[Pair], seed: int, rounds: int) -> list[tuple[Pair, str]]:
    """Make as many negatives as there are pairs, several times.

    The kinds take turns, so that a pair meets another kind in each of four rounds. If a kind cannot
    be made of a pair, the next one is.

    Args:
        pairs: Typical pairs.
        seed: The seed of the random numbers.
        rounds: How often to go through the pairs.

    Returns:
        Each negative with its kind.
    """
    draw = random.Random(seed)
    negatives = []
    for number in range(rounds):
        for place, pair in enumerate(pairs):
            for offset in range(len(KINDS)):
                kind = KINDS[(place + number + offset) % len(KINDS)]
                text = negative(kind, pair, pairs, draw)
                if text is not None:
                    negatives.append(((pair[0], text), kind))
                    break
    return negatives


def negatives_by_kind(pairs: Sequence[Pair], seed: int) -> dict[str, list[Pair]]:
    """Make negatives of every kind from all pairs of which they can be made.

    Args:
        pairs: Typical pairs.
        seed: The seed of the random numbers.

    Returns:
        The negatives by kind.
    """
    draw = random.Random(seed)
    negatives: dict[str, list[Pair]] = {}
    for kind in KINDS:
        negatives[kind] = []
        for pair in pairs:
            text = negative(kind, pair, pairs, draw)
            if text is not None:
                negatives[kind].append((pair[0], text))
    return negatives


def sentences(text: str) -> tuple[list[str], list[str]]:
    """Split a text into sentences and lines.

    Args:
        text: The text.

    Returns:
        The sentences, and what stands between them (one fewer).
    """
    matches = [match for match in _SENTENCE.findall(text.strip()) if match[0]]
    parts = [part for part, _ in matches]
    gaps = [gap for _, gap in matches[:-1]]
    return parts, gaps


def _join(parts: Sequence[str], gaps: Sequence[str]) -> str:
    """Sentences with what stands between them."""
    return "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


def _truncate(text: str, draw: random.Random) -> str | None:
    """The text cut between 30 and 80 % of its words, not at the end of a sentence."""
    word_ends = [match.end() for match in re.finditer(r"\S+", text)]
    if len(word_ends) < _MIN_WORDS_TO_TRUNCATE:
        return None
    candidates = word_ends[int(0.3 * len(word_ends)) : int(0.8 * len(word_ends))]
    inside = [end for end in candidates if text[end - 1] not in _SENTENCE_ENDS]
    if not inside:
        return None
    return text[: draw.choice(inside)]


def _shuffle(text: str, draw: random.Random) -> str | None:
    """The sentences in another order, with what stood between them where it was."""
    parts, gaps = sentences(text)
    if len(set(parts)) < _MIN_SENTENCES_TO_SHUFFLE:
        return None
    order = list(parts)
    while order == parts:
        draw.shuffle(order)
    return _join(order, gaps)


def _insert(text: str, foreign: str | None, draw: random.Random) -> str | None:
    """The text with a sentence of a foreign answer put between two of its own."""
    parts, gaps = sentences(text)
    if len(parts) < 2 or foreign is None:
        return None
    foreign_parts, _ = sentences(foreign)
    long_parts = [part for part in foreign_parts if len(part.split()) >= _MIN_WORDS_TO_INSERT]
    inserted = draw.choice(long_parts or [foreign])
    place = draw.randrange(1, len(parts))
    parts.insert(place, inserted)
    gaps.insert(place, gaps[place - 1])
    return _join(parts, gaps)
