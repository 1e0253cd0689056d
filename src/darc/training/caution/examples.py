"""Typical pairs of prompt and answer, from files and run folders."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.scorers.base import Pair
from darc.tables.entries import read_entries
from darc.types import Message, Prompt

LEAST = 8
ASKED = ("prompt", "instruction", "question")
ANSWERED = ("response", "answer", "output", "completion", "chosen", "good")


def read_examples(path: Path) -> list[Pair]:
    """The pairs of a run folder or of a JSON file.

    Of a run every candidate counts that the token limit did not cut off, or all of them where that
    would leave too few.
    A line has a prompt (prompt, instruction or question; a text or messages) and an answer
    (response, answer, output, completion, chosen or good; a text or messages).
    """
    pairs = _run(path) if path.is_dir() else _file(path)
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


def _run(path: Path) -> list[Pair]:
    whole: list[Pair] = []
    every: list[Pair] = []
    for shard in RunFolder(path).shards():
        for prompt_id in shard.rows("candidates.jsonl"):
            prompt = records.read_prompt(shard, prompt_id)
            for candidate in records.read_candidates(shard, prompt_id):
                every.append((prompt, candidate.text))
                if not candidate.truncated:
                    whole.append((prompt, candidate.text))
    return whole if _prompts(whole) >= LEAST else every


def _prompts(pairs: Sequence[Pair]) -> int:
    return len({prompt.question for prompt, _ in pairs})


def _file(path: Path) -> list[Pair]:
    result = []
    for place, (line, row) in enumerate(read_entries(path), 1):
        asked = _first(row, ASKED)
        answer = _first(row, ANSWERED)
        if asked is None or answer is None:
            raise InputError(
                f"{path}, line {line or place}: no prompt and answer", "write prompt and response"
            )
        messages = read_messages(asked)
        said = read_messages(answer)[-1].content
        result.append((Prompt(str(place), messages), said))
    return result


def _first(row: Any, names: Sequence[str]) -> Any:
    if not isinstance(row, dict):
        return None
    return next((row[name] for name in names if row.get(name)), None)


def read_messages(given: Any) -> tuple[Message, ...]:
    """A text as one message, or messages as they are."""
    if isinstance(given, str):
        return (Message("user", given),)
    try:
        return tuple(Message(str(part["role"]), str(part["content"])) for part in given)
    except (TypeError, KeyError):
        raise InputError("a prompt or an answer is no text", "write texts or messages") from None
