"""Typical pairs of prompt and answer, from files and runs, and atypical ones made of them."""

import hashlib
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.files import read_entries
from darc.parts.scorers.base import Pair
from darc.runs.folder import RunFolder
from darc.types import Message, Prompt

LEAST = 8
ASKED = ("prompt", "instruction", "question")
ANSWERED = ("response", "answer", "output", "completion", "chosen", "good")
KINDS = ("mismatched", "truncated", "shuffled", "inserted")
# Up to a mark that ends it or to the end of a line, and the space behind; a list's number is none.
SENTENCE = re.compile(r"((?:\d{1,3}[.)]\s+)?.*?(?:[.!?\u2026][\"')\]*_]*(?=\s)|(?=\s*\n)|$))(\s*)")
LEAST_WORDS = 8


def read_examples(path: Path) -> list[Pair]:
    """The pairs of a run folder or of a JSON file.

    Of a run every candidate counts that the token limit did not cut off, or all of them where that
    would leave too few.
    A line has a prompt (prompt, instruction or question; a text or messages) and an answer
    (response, answer, output, completion, chosen or good; a text or messages).
    """
    if path.is_dir():
        every = list(RunFolder(path).candidates())
        pairs = [(prompt, each.text) for prompt, each in every if not each.truncated]
        if _prompts(pairs) < LEAST:
            pairs = [(prompt, each.text) for prompt, each in every]
    else:
        pairs = _file(path)
    kept = list({(p.question, a): (p, a) for p, a in pairs if a.strip() and p.question}.values())
    if _prompts(kept) < LEAST:
        raise InputError(f"{path} has fewer than {LEAST} prompts with answers", "give more of them")
    return kept


def divide(pairs: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs to fit and held-out ones, about `share` of the prompts; a prompt's stay together."""
    questions = list(dict.fromkeys(prompt.question for prompt, _ in pairs))
    order = sorted(questions, key=lambda q: hashlib.sha256(f"{seed}\0{q}".encode()).digest())
    apart = set(order[: max(2, round(share * len(order)))])
    kept = [pair for pair in pairs if pair[0].question not in apart]
    return kept, [pair for pair in pairs if pair[0].question in apart]


def _prompts(pairs: Sequence[Pair]) -> int:
    return len({prompt.question for prompt, _ in pairs})


def _file(path: Path) -> list[Pair]:
    result = []
    for place, (line, row) in enumerate(read_entries(path), 1):
        known = row if isinstance(row, dict) else {}
        asked, answer = (
            next((known[name] for name in names if known.get(name)), None)
            for names in (ASKED, ANSWERED)
        )
        if asked is None or answer is None:
            raise InputError(
                f"{path}, line {line or place}: no prompt and answer", "write prompt and response"
            )
        said = read_messages(answer)[-1].content
        result.append((Prompt(str(place), read_messages(asked)), said))
    return result


def read_messages(given: Any) -> tuple[Message, ...]:
    """A text as one message, or messages as they are."""
    if isinstance(given, str):
        return (Message("user", given),)
    try:
        return tuple(Message(str(part["role"]), str(part["content"])) for part in given)
    except (TypeError, KeyError):
        raise InputError("a prompt or an answer is no text", "write texts or messages") from None


def negative(kind: str, pair: Pair, others: Sequence[Pair], draw: random.Random) -> str | None:
    """The answer of a pair spoilt in one way, None where that cannot be; `others` lend theirs."""
    text = pair[1]
    if kind in ("mismatched", "inserted"):
        strangers = [answer for prompt, answer in others if prompt.question != pair[0].question]
        made = draw.choice(strangers) if strangers else None
        if kind == "inserted":
            made = _inserted(text, made, draw)
    else:
        made = _truncated(text, draw) if kind == "truncated" else _shuffled(text, draw)
    return None if made is None or made.strip() == text.strip() else made


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
    found = [each for each in SENTENCE.findall(text.strip()) if each[0]]
    return [part for part, _ in found], [gap for _, gap in found[:-1]]


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


def _inserted(text: str, donor: str | None, draw: random.Random) -> str | None:
    """The text with a sentence of an answer to something else put between two of its own."""
    parts, between = sentences(text)
    if len(parts) < 2 or donor is None:
        return None
    strange = draw.choice([p for p in sentences(donor)[0] if len(p.split()) > 3] or [donor])
    at = draw.randrange(1, len(parts))
    parts.insert(at, strange)
    between.insert(at, between[at - 1])
    return "".join(part + gap for part, gap in zip(parts, [*between, ""], strict=True))
