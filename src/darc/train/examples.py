"""Typical pairs of prompt and answer, from files and runs."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from darc.entries import read_entries
from darc.errors import InputError
from darc.field_names import EXAMPLE_ANSWER, PROMPT_TEXT
from darc.parts.scorers.base import Pair
from darc.runs.folder import RunFolder
from darc.types import Message, Prompt

_MIN_PROMPTS = 8


def read_examples(path: Path) -> list[Pair]:
    """Read pairs of prompt and answer.

    Args:
        path: A run folder, whose candidates count unless the token limit cut them off (all count
            if too few would be left), or a JSON file. A line of it has a prompt (prompt,
            instruction or question) and an answer (response, answer, output, completion, chosen or
            good), each a text or messages.

    Returns:
        The pairs, each once.

    Raises:
        InputError: There are too few prompts, or a line has no prompt and answer.
    """
    pairs = _read_run(path) if path.is_dir() else _read_file(path)
    distinct: dict[tuple[str, str], Pair] = {}
    for prompt, answer in pairs:
        if answer.strip() and prompt.question:
            distinct[prompt.question, answer] = (prompt, answer)
    examples = list(distinct.values())
    if _count_prompts(examples) < _MIN_PROMPTS:
        raise InputError(
            f"{path} has fewer than {_MIN_PROMPTS} prompts with answers", "give more of them"
        )
    return examples


def divide(pairs: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Divide pairs such that those of a prompt stay together.

    Args:
        pairs: The pairs.
        share: The share of the prompts that is held out, at least two of them.
        seed: The seed of the division.

    Returns:
        The pairs to fit, and the held-out ones.
    """
    questions = list(dict.fromkeys(prompt.question for prompt, _ in pairs))

    def draw(question: str) -> bytes:
        return hashlib.sha256(f"{seed}\0{question}".encode()).digest()

    count = max(2, round(share * len(questions)))
    held_out_questions = set(sorted(questions, key=draw)[:count])
    fitted = [pair for pair in pairs if pair[0].question not in held_out_questions]
    held_out = [pair for pair in pairs if pair[0].question in held_out_questions]
    return fitted, held_out


def _count_prompts(pairs: Sequence[Pair]) -> int:
    return len({prompt.question for prompt, _ in pairs})


def _read_run(path: Path) -> list[Pair]:
    candidates = list(RunFolder(path).candidates())
    complete = [(prompt, one.text) for prompt, one in candidates if not one.truncated]
    if _count_prompts(complete) >= _MIN_PROMPTS:
        return complete
    return [(prompt, one.text) for prompt, one in candidates]


def _read_file(path: Path) -> list[Pair]:
    pairs = []
    for number, (line, row) in enumerate(read_entries(path), 1):
        fields = row if isinstance(row, dict) else {}
        prompt = _first_field(fields, PROMPT_TEXT)
        answer = _first_field(fields, EXAMPLE_ANSWER)
        if prompt is None or answer is None:
            raise InputError(
                f"{path}, line {line or number}: no prompt and answer", "write prompt and response"
            )
        text = read_messages(answer)[-1].content
        pairs.append((Prompt(str(number), read_messages(prompt)), text))
    return pairs


def _first_field(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these fields that has one, or None."""
    for name in names:
        if fields.get(name):
            return fields[name]
    return None


def read_messages(content: Any) -> tuple[Message, ...]:
    """Read a conversation.

    Args:
        content: A text, which is one message of a user, or a list of messages.

    Returns:
        The messages.

    Raises:
        InputError: It is neither.
    """
    if isinstance(content, str):
        return (Message("user", content),)
    try:
        return tuple(Message(str(part["role"]), str(part["content"])) for part in content)
    except (TypeError, KeyError):
        raise InputError("a prompt or an answer is not a text", "write texts or messages") from None
